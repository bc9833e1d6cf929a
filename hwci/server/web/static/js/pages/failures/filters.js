// SPDX-License-Identifier: Apache-2.0
// Which failures are listed, beside period and product: read from the address, and chosen here.

import { useAnswer } from "../../asking.js";
import { count } from "../../format.js";
import { html } from "../../html.js";
import { LABELS } from "../../parts/values/labels.js";
import { changeScope } from "../../parts/frame/scope.js";

const CHOICES = [
  ["", "All", "Every failure"],
  ...Object.entries(LABELS).map(([label, [, text, meaning]]) => [label, text, meaning]),
];
const KNOWN = [
  ["", "Known or not", "Whether or not a rule says so"],
  ["true", "Known", "Those of a rule that a member made: hwci known list"],
  ["false", "Not known", "Those of no such rule"],
];

/** What takes all filters out of the address. */
export const NO_FILTERS = { label: null, testId: null, known: null };

/** Return the filters of an address. */
export function filtersOf(query) {
  return { label: query.get("label"), testId: query.get("testId"), known: query.get("known") };
}

/** The label to choose, and the test that a link chose. `first`: a reference to what stands first. */
export function Filters({ orgId, scope, filters: { label, testId, known }, first, clear }) {
  return html`
    <${Choice} name="label" title="Label" choices=${CHOICES} chosen=${label} first=${first} />
    <${Choice} name="known" title="Known or not" choices=${KNOWN} chosen=${known} />
    ${testId && html`<p class="only">Only <strong>${testId}</strong>
      ${" "}<button type="button" onClick=${() => clear({ testId: null })}>Show all tests</button></p>`}
    ${label === "flake" && !testId && html`<${FlakyRuns} orgId=${orgId} scope=${scope} />`}
  `;
}

/** A filter of which one value is chosen at a time. */
function Choice({ name, title, choices, chosen, first }) {
  return html`<fieldset class="choice" ref=${first}>
    <legend class="unseen">${title}</legend>
    ${choices.map(([value, text, meaning]) => html`<label key=${value} title=${meaning}>
      <input type="radio" name=${name} value=${value} checked=${value === (chosen ?? "")}
        onChange=${() => changeScope({ [name]: value || null })} />
      <span>${text}</span>
    </label>`)}
  </fieldset>`;
}

/** The number on the tile, which counts failing runs and not rows. */
function FlakyRuns({ orgId, scope }) {
  const page = useAnswer(`/api/orgs/${orgId}/ci-metrics`, { ...scope, limit: 1 }).data;
  return html`<p class="only quiet">One row for each test, box, branch and commit.
    <br />The tile “Flaky failures” counts their failing runs one by
    one${page && `: ${count(page.tiles.flakyFailures.count)} in this period`}.</p>`;
}
