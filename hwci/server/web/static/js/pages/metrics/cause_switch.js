// SPDX-License-Identifier: Apache-2.0
// The switch between a row for each failure and one for each cause, which is loaded when it is first shown. The titles
// of the tables count failures, as the tiles do.

import { change } from "../../address.js";
import { html } from "../../html.js";
import { later } from "../../parts/later.js";

export const ByCause = later(() => import("./by_cause.js"), "ByCause");

/** Whether a table shows causes. */
export function isByCause(name, query) {
  return query.get(`${name}.by`) === "cause";
}

/** The switch between a row for each cause and one for each failure. */
export function CauseSwitch({ name, label, address }) {
  const on = isByCause(name, address.query);
  const of = (...parts) => Object.fromEntries(parts.map((part) => [`${name}.${part}`, null]));
  const turn = () => change({ ...of("page", "sort", "cause"), [`${name}.by`]: on ? null : "cause" });
  return html`<p class="by-cause"><button type="button" aria-pressed=${on ? "true" : "false"} aria-label=${`By cause: ${label}`}
    onClick=${turn}>By cause</button></p>`;
}
