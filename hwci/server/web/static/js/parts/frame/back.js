// SPDX-License-Identifier: Apache-2.0
// The link back to the page that led to this one, as it was left. There is none if no page of hwci led here.

import { cameFrom } from "../../address.js";
import { html } from "../../html.js";

/** The link. */
export function Back({ orgId }) {
  const from = cameFrom(orgId);
  return from && html`<a href=${from.path} data-back=${from.steps}>Back to ${from.page.replace("-", " ")}</a>`;
}
