// SPDX-License-Identifier: Apache-2.0
// A time in an address, which may hold any text.

import { moment } from "../../format.js";
import { html } from "../../html.js";

/** The time in full, or the text itself if it is not a time: the API refuses it then. */
export function GivenTime({ at }) {
  return html`<strong>${Number.isNaN(Date.parse(at)) ? at : moment(at)}</strong>`;
}
