// SPDX-License-Identifier: Apache-2.0
// Which rows a table of the metrics page has: one of two kinds, each with how many there are.

import { count } from "../../format.js";
import { html } from "../../html.js";

/**
 * The choice. `name`: of the parameter of the address; `kinds`: `{value, short, total}`, `total` undefined where nobody
 * knows it yet; `shown`: the value of one of them; `choose(value)`: another one is wanted.
 */
export function Choice({ name, legend, kinds, shown, choose }) {
  return html`<fieldset class="choice of-section">
    <legend class="unseen">${legend}</legend>
    ${kinds.map(({ value, short, total }) => html`<label key=${short}>
      <input type="radio" name=${name} checked=${value === shown} onChange=${() => choose(value)} />
      <span>${short}${total !== undefined && ` (${count(total)})`}</span>
    </label>`)}
  </fieldset>`;
}
