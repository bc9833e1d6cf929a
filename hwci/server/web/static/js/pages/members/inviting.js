// SPDX-License-Identifier: Apache-2.0
// Inviting a person, and the link of the invitation, which is kept only in the memory of this page.

import { post } from "../../api.js";
import { html, useEffect, useRef, useState } from "../../html.js";
import { Copyable } from "../../parts/form/copyable.js";
import { Time } from "../../parts/values/values.js";

const ROLES = ["member", "admin", "owner"];

/** The form that invites. `field`: a reference to where the e-mail is typed; `made(invited)`: it is done. */
export function Invite({ base, role: own, field, made }) {
  const [fault, setFault] = useState(null);
  const [busy, setBusy] = useState(false);
  const invite = async (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    if (busy) return;
    setBusy(true);
    setFault(null);
    try {
      made(await post(`${base}/invites`, { email: form.elements.email.value.trim(), role: form.elements.role.value }));
      form.reset();
    } catch (refused) {
      setFault(refused);
    }
    setBusy(false);
  };
  const roles = ROLES.filter((role) => role !== "owner" || own === "owner");
  return html`<form class="add-box" onSubmit=${invite}>
    <label>Invite <input name="email" type="email" ref=${field} required autocomplete="off" placeholder="E-mail" /></label>
    <label>Role <select name="role">${roles.map((role) => html`<option key=${role}>${role}</option>`)}</select></label>
    <button class="main" aria-disabled=${busy ? "true" : undefined}>Invite</button>
    ${fault && html`<p class="fault" role="alert">${faultText(fault)}</p>`}
  </form>`;
}

function faultText({ message, issues }) {
  return issues?.length ? issues.map((issue) => issue.message).join("; ") : message;
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
