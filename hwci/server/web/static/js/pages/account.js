// SPDX-License-Identifier: Apache-2.0
// The person's own account (contract, "Auth"): its password, and its sessions. It belongs to no organization.

import { html, useState } from "../html.js";
import { Section } from "../parts/section.js";
import { ExactTimes } from "../parts/values/values.js";
import { PasswordForm } from "./account/password.js";
import { Sessions } from "./account/sessions.js";

/** The page. */
export function Account({ address, me }) {
  const [turn, setTurn] = useState(0);
  const look = () => setTurn((was) => was + 1);
  const { name, email } = me.user;
  return html`
    <div class="page-head"><h1>Your account</h1><${ExactTimes} /></div>
    <p>${name && html`<strong>${name}</strong> `}${email}</p>
    <${Section} title="Change your password"><${PasswordForm} email=${email} changed=${look} /><//>
    <${Section} title="Where you are signed in"><${Sessions} address=${address} turn=${turn} changed=${look} /><//>
  `;
}
