// SPDX-License-Identifier: Apache-2.0
// Which failures are listed, beside period and product: read from the address, and chosen here.

import { html } from "../../html.js";
import { LABELS } from "../../parts/labels.js";
import { changeScope } from "../../parts/scope.js";

const CHOICES = [
  ["", "All", "Every failure"],
  ...Object.entries(LABELS).map(([label, [, text, meaning]]) => [label, text, meaning]),
];

/** What takes all filters out of the address. */
export const NO_FILTERS = { label: null, testId: null };

/** What the address asks for. */
export function filtersOf(query) {
  return { label: query.get("label"), testId: query.get("testId") };
}

/** The label to choose, and the test that a link chose. `first`: a reference to what stands first. */
export function Filters({ filters: { label, testId }, first, clear }) {
  return html`
    <fieldset class="choice" ref=${first}>
      <legend class="unseen">Label</legend>
      ${CHOICES.map(([value, text, meaning]) => html`<label key=${value} title=${meaning}>
        <input type="radio" name="label" value=${value} checked=${value === (label ?? "")}
          onChange=${() => changeScope({ label: value || null })} />
        <span>${text}</span>
      </label>`)}
    </fieldset>
    ${testId && html`<p class="only">Only <strong>${testId}</strong>
      ${" "}<button type="button" onClick=${() => clear({ testId: null })}>Show all tests</button></p>`}
    ${label === "flake" && html`<p class="only quiet">One row for each test, box, branch and commit.
      ${" "}The tile “Flaky failures” counts their failing runs one by one.</p>`}
  `;
}
