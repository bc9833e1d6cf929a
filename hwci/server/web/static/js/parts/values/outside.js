// SPDX-License-Identifier: Apache-2.0
// A link to another site, such as the page of a CI job.

import { html } from "../../html.js";

const ADDRESS = /^https?:\/\//i;

/** The link; only its text where the address is none that people may be sent to. `label`: for one that is a sign alone. */
export function Outside({ href, label, children }) {
  if (!ADDRESS.test(href ?? "")) return children;
  return html`<a href=${href} target="_blank" rel="noopener noreferrer" aria-label=${label}
    class=${label && "sign"}>${children}</a>`;
}
