// SPDX-License-Identifier: Apache-2.0
// Whether a table of resolved failures has a row for each failure, as the specification says, or for each cause
// (ADR 0013). The titles of the tables count failures, as the tiles do.

import { html } from "../../html.js";
import { showAll } from "../../parts/table/table.js";
import { Choice } from "./choice.js";

const FAILURES = { value: "failure", short: "Each failure" };
const CAUSES = { value: "cause", short: "By cause" };

/** Whether a table shows causes. */
export function isByCause(name, query) {
  return query.get(`${name}.by`) === CAUSES.value;
}

/** What an address is changed by to show all causes of a table. */
export function toCauses(name) {
  return toAll(name, CAUSES);
}

/** What an address is changed by to show all failures of a table. */
export function toFailures(name) {
  return toAll(name, FAILURES);
}

function toAll(name, kind) {
  return { ...showAll(name), [`${name}.search`]: null, [`${name}.lost`]: null, ...toKind(name, kind.value) };
}

/** A page, an order and an unfolded row are of the other rows. */
function toKind(name, value) {
  return { ...Object.fromEntries(["page", "sort", "cause"].map((part) => [`${name}.${part}`, null])), [`${name}.by`]: value };
}

/** The choice of the two, each with how many rows it has, undefined where nobody knows it yet. `turn`: of `useSwitches`. */
export function CauseSwitch({ name, label, address, turn, causes, failures }) {
  return html`<${Choice} name=${`${name}.by`} legend=${`Rows of ${label}`}
    kinds=${[{ ...FAILURES, total: failures }, { ...CAUSES, total: causes }]}
    shown=${(isByCause(name, address.query) ? CAUSES : FAILURES).value} choose=${(value) => turn(toKind(name, value))} />`;
}
