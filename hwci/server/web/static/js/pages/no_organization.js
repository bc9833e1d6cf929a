// SPDX-License-Identifier: Apache-2.0
// The page of a person without an organization: how to join one, and a form that makes a new one (contract,
// "Organizations").

import { post } from "../api.js";
import { html, useState } from "../html.js";
import { useTitle } from "../parts/frame/title.js";

/** The page. `made()`: there is an organization now. */
export function NoOrganization({ me, made }) {
  const [fault, setFault] = useState(null);
  const [busy, setBusy] = useState(false);
  useTitle("No organization yet");
  const make = async (event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setFault(null);
    try {
      await post("/api/orgs", { name: event.currentTarget.elements.name.value.trim() });
      made();
    } catch (refused) {
      setFault(refused);
      setBusy(false);
    }
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
      <form class="add-box" onSubmit=${make}>
        <label>Name of the organization <input name="name" required maxlength="255" autocomplete="organization" /></label>
        <button class="main" aria-disabled=${busy ? "true" : undefined}>${busy ? "Creating…" : "Create organization"}</button>
        ${fault && html`<p class="fault" role="alert">${faultText(fault)}</p>`}
      </form>
    </section>`;
}

function faultText({ message, issues }) {
  return issues?.length ? issues.map((issue) => issue.message).join("; ") : message;
}
