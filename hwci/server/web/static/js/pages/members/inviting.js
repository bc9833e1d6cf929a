// SPDX-License-Identifier: Apache-2.0
// Inviting a person, and the link of the invitation, which is kept only in the memory of this page.

import { post } from "../../api.js";
import { html, useEffect, useRef } from "../../html.js";
import { Copyable } from "../../parts/form/copyable.js";
import { useDraft } from "../../parts/form/draft.js";
import { FormFault, useSending } from "../../parts/form/sending.js";
import { Time } from "../../parts/values/values.js";

const ROLES = ["member", "admin", "owner"];

/** The form that invites. `field`: a reference to where the e-mail is typed; `me`: the reader; `made(invited)`: it is done. */
export function Invite({ base, role: own, field, me, made }) {
  const { busy, fault, send } = useSending();
  const draft = useDraft(me);
  const { email = "", role = ROLES[0] } = draft.read(base);
  const invite = async () => {
    made(await post(`${base}/invites`, { email: email.trim(), role }));
    draft.clear(base);
  };
  const write = ({ target }) => draft.write(base, { [target.name]: target.value });
  const roles = ROLES.filter((one) => one !== "owner" || own === "owner");
  return html`<form class="add-box" onSubmit=${(event) => send(event, invite)}>
    <label>Invite <input name="email" type="email" ref=${field} required autocomplete="off" placeholder="E-mail" value=${email}
      onInput=${write} /></label>
    <label>Role <select name="role" value=${role} onChange=${write}>
      ${roles.map((one) => html`<option key=${one}>${one}</option>`)}</select></label>
    <button class="main" aria-disabled=${busy ? "true" : undefined}>Invite</button>
    <${FormFault} fault=${fault} />
  </form>`;
}

/** The link of an invitation that was just made. */
export function InviteLink({ made, done }) {
  const title = useRef(null);
  useEffect(() => title.current.focus(), []);
  return html`<section class="part token" aria-label="Invitation">
    <h2 tabindex="-1" ref=${title}>Invitation of ${made.email}</h2>
    <p>Send them this link. Shown only once. It works once, only for this e-mail, and expires <${Time} at=${made.expiresAt} />.
      With it they register, or sign in, and accept or decline.</p>
    <${Copyable} label="Link" text=${`${window.location.origin}/setup#${made.inviteToken}`} />
    <button type="button" onClick=${done}>Done</button>
  </section>`;
}
