// SPDX-License-Identifier: Apache-2.0
// Of which branches the runs are that a section is made of: all, the default branch of each repository, or all others
// (semantics, 17). The address has the choice.

import { html } from "../../html.js";
import { changeScope } from "./scope.js";

const NAMES = { "": "All branches", default: "Default branch", others: "Other branches" };

/** The choice of an address, as the API takes it; null: all branches. */
export function branchesOf(query) {
  return query.get("branches");
}

/** The field. */
export function Branches({ address }) {
  const choose = (event) => changeScope({ branches: event.target.value || null });
  return html`<select class="branches" aria-label="Branches" value=${branchesOf(address.query) ?? ""} onChange=${choose}>
    ${Object.entries(NAMES).map(([value, name]) => html`<option key=${value} value=${value}>${name}</option>`)}
  </select>`;
}
