// SPDX-License-Identifier: Apache-2.0
// Setting a new password by the operator's link, whose token is in the address after "#".

import { postOpenly } from "../api.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { Field, NEW_PASSWORD, faultsOf } from "../parts/form/field.js";
import { useToken } from "../parts/form/link_token.js";

const WHOM_TO_ASK = "Invalid link. The operator of this server can make a new one. It works once. Expires in 24 h.";

/** The page of a reset link. */
export function ResetPassword() {
  const token = useToken();
  const [fault, setFault] = useState(null);
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState(false);
  const form = useRef(null);
  useEffect(() => form.current?.elements[0].focus(), []);
  useEffect(() => setFault(null), [token]);
  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    const { newPassword } = Object.fromEntries(new FormData(event.currentTarget));
    setBusy(true);
    setFault(null);
    try {
      await postOpenly("/api/auth/reset", { resetToken: token, newPassword });
      setDone(true);
    } catch (refused) {
      setFault(refused);
    }
    setBusy(false);
  };
  if (done) return html`<${Done} />`;
  const faults = faultsOf(fault);
  return html`<main class="standalone">
    <h1>Set a new password</h1>
    ${fault && !faults.newPassword && html`<p class="failed" role="alert">${fault.message}</p>`}
    <form ref=${form} onSubmit=${submit}>
      <${Field} name="newPassword" title="New password" ...${NEW_PASSWORD} fault=${faults.newPassword} />
      <button type="submit" class="main" aria-disabled=${busy ? "true" : undefined}>${busy ? "Setting…" : "Set password"}</button>
    </form>
    <p class="quiet">${token ? "Wherever you are signed in, you will be signed out." : WHOM_TO_ASK}${" "}
      <a href="/sign-in">Sign in instead</a></p>
  </main>`;
}

function Done() {
  const title = useRef(null);
  useEffect(() => title.current.focus(), []);
  return html`<main class="standalone">
    <h1 tabindex="-1" ref=${title}>Your password is set</h1>
    <p class="quiet">You are signed out everywhere. <a href="/sign-in">Sign in with the new password</a></p>
  </main>`;
}
