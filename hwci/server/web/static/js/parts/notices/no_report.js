// SPDX-License-Identifier: Apache-2.0
// What a page says of an organization in which no report has arrived. The first steps are on the metrics page.

import { addressOf } from "../../address.js";
import { html } from "../../html.js";

/** The sentence, with the way to the first steps. */
export function NoReport({ orgId }) {
  return html`No report has arrived yet. <a href=${addressOf("metrics", { orgId })}>How to begin</a>`;
}
