// SPDX-License-Identifier: Apache-2.0
// Of which period the figures below are: pages have different ones where none was chosen.

import { counted, moment, periodName } from "../../format.js";
import { html } from "../../html.js";

/** How many days, with the first and the last. */
export function Period({ days, from, to }) {
  return html`<span title=${`${moment(from)} to ${moment(to)}`}>${counted(days, "day")}, ${periodName({ from, to })}</span>`;
}
