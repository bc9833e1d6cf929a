// SPDX-License-Identifier: Apache-2.0
// The form that changes the person's own password. It shows how many sessions that ended.

import { post } from "../../api.js";
import { counted } from "../../format.js";
import { html, useState } from "../../html.js";
import { Field, NEW_PASSWORD, faultsOf } from "../../parts/form/field.js";

const FIELDS = [
  {
    name: "currentPassword",
    title: "Current password",
    type: "password",
    autocomplete: "current-password",
    required: true,
  },
  { name: "newPassword", title: "New password", ...NEW_PASSWORD },
];

/** The form. `changed()`: other sessions may have ended. */
export function PasswordForm({ email, changed }) {
  const [fault, setFault] = useState(null);
  const [ended, setEnded] = useState(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    if (busy) return;
    setBusy(true);
    setFault(null);
    setEnded(null);
    try {
      const { currentPassword, newPassword } = Object.fromEntries(new FormData(form));
      setEnded((await post("/api/auth/password", { currentPassword, newPassword })).ended);
      form.reset();
      changed();
    } catch (refused) {
      setFault(refused);
    }
    setBusy(false);
  };
  const faults = faultsOf(fault);
  const besideNone = fault && !FIELDS.some(({ name }) => faults[name]);
  return html`
    <p class="quiet">All your other sessions end. This one stays.</p>
    <form class="of-account" onSubmit=${submit}>
      <input type="text" name="username" autocomplete="username" value=${email} hidden />
      ${FIELDS.map((field) => html`<${Field} key=${field.name} ...${field} fault=${faults[field.name]} />`)}
      <button type="submit" class="main" aria-disabled=${busy ? "true" : undefined}>${busy ? "Changing…" : "Change password"}</button>
    </form>
    ${besideNone && html`<p class="fault" role="alert">${fault.message}</p>`}
    <p role="status">${ended !== null && `Your password is changed. ${counted(ended, "other session")} ended.`}</p>
  `;
}
