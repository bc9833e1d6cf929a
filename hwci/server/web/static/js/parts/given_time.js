// SPDX-License-Identifier: Apache-2.0
// A time that stands in an address, where anybody may have written anything.

import { moment } from "../format.js";
import { html } from "../html.js";

/** The time in full; what is none stands as it was given, and the API refuses it. */
export function GivenTime({ at }) {
  return html`<strong>${Number.isNaN(Date.parse(at)) ? at : moment(at)}</strong>`;
}
