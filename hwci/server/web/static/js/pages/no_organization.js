// SPDX-License-Identifier: Apache-2.0
// The page of a person without an organization: how to join one, and a form that makes a new one (contract,
// "Organizations").

import { post } from "../api.js";
import { html } from "../html.js";
import { useDraft } from "../parts/form/draft.js";
import { FormFault, useSending } from "../parts/form/sending.js";
import { useTitle } from "../parts/frame/title.js";

const NEW = "new organization";

/** The page. `made()`: there is an organization now. */
export function NoOrganization({ me, made }) {
  const { busy, fault, send } = useSending();
  const draft = useDraft(me);
  const { name = "" } = draft.read(NEW);
  useTitle("No organization yet");
  const make = async () => {
    await post("/api/orgs", { name: name.trim() });
    draft.clear(NEW);
    made();
  };
  return html`<h1>No organization yet</h1>
    <section class="part first-steps">
      <h2>Join your team</h2>
      <p>Ask one of its owners or admins to invite <strong>${me.user.email}</strong>, and open the link that they send you.</p>
      <p>Done? <button type="button" onClick=${made}>Refresh</button></p>
    </section>
    <section class="part first-steps">
      <h2>Or create a new one</h2>
      <p>You will be its owner. The operator of the server then turns CI Metrics on for it.</p>
      <form class="add-box" onSubmit=${(event) => send(event, make)}>
        <label>Name of the organization <input required maxlength="255" autocomplete="organization"
          value=${name} onInput=${({ target }) => draft.write(NEW, { name: target.value })} /></label>
        <button class="main" aria-disabled=${busy ? "true" : undefined}>${busy ? "Creating…" : "Create organization"}</button>
        <${FormFault} fault=${fault} />
      </form>
    </section>`;
}
