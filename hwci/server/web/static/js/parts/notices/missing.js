// SPDX-License-Identifier: Apache-2.0
// What is shown in place of something that does not exist: what was looked for, why it may be missing (the
// children), and where to go on.

import { addressOf } from "../../address.js";
import { shortened } from "../../format.js";
import { html } from "../../html.js";
import { useTitle } from "../frame/title.js";

const SHOWN = 200; // characters

/** A page of its own for it. */
export function NotThere({ title, ...rest }) {
  useTitle(title);
  return html`<h1>${title}</h1><${Missing} ...${rest} />`;
}

/** `sought`: as the address has it; `organizations`: to link to their metrics. */
export function Missing({ sought, organizations, children }) {
  return html`<p class="empty"><code>${shortened(sought, SHOWN)}</code>: ${children}</p>
    <ul class="ways" aria-label="Ways on">
      ${organizations.map(({ id, name }) => html`<li key=${id}><a href=${addressOf("metrics", { orgId: id })}>Metrics of ${name}</a></li>`)}
      <li><a href="/">Home page</a></li>
    </ul>`;
}
