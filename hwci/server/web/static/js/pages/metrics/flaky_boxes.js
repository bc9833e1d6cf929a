// SPDX-License-Identifier: Apache-2.0
// A row of "Flakiest tests" unfolded: its figures and its strip on each box, and what its runs suggest. The API decides
// every figure and sentence.

import { counted, percent, range, rangeOf } from "../../format.js";
import { html } from "../../html.js";
import { Failed, Waiting } from "../../parts/notices/notice.js";
import { Rows } from "../../parts/table/rows.js";
import { BoxLink } from "../../parts/values/past.js";
import { figureColumns, rate } from "./flaky_figures.js";
import { HeatStrip } from "./heat.js";

/**
 * The row unfolded. `history`: its boxes, which `answer` brings (undefined: not yet); `suspect`: what its runs suggest, which
 * `suspects` bring.
 */
export function Unfolded({ row, history, answer, suspect, suspects, orgId, period }) {
  return html`${history ? html`<${Boxes} ...${{ row, history, suspect, suspects, orgId, period, days: answer.data.days }} />`
    : answer.error ? html`<${Failed} error=${answer.error} again=${answer.again} />` : html`<${Waiting} />`}
    <p class="quiet">${suspects.error ? suspects.error.message : suspect ? suggested(suspect) : "\u00a0"}</p>`;
}

function Boxes({ row: { repoKey, suite, testId }, history: { boxes, boxesTotal }, suspect, suspects, orgId, period, days }) {
  const hidden = boxesTotal - boxes.length;
  const rows = boxes.map((box) => ({ ...box, repoKey, suite, testId }));
  const within = new Map(suspect?.onBoxes.map(({ boxKey, flakeRate }) => [boxKey, rangeOf(flakeRate)]));
  const columns = [
    { key: "box", title: "Box", name: true, cell: ({ boxKey }) => html`<${BoxLink} boxKey=${boxKey} orgId=${orgId} />` },
    ...figureColumns({ period, orgId, sorted: false }),
    { key: "flakeRate", title: "Flake rate", numeric: true, cell: (box) => rate(box, within.get(box.boxKey), suspects.error) },
    { key: "heat", title: "Failed attempts by day", numeric: true, cell: (box) => html`<${HeatStrip} history=${box} days=${days} />` },
  ];
  return html`<div class="strips">
    <${Rows} columns=${columns} rows=${rows} rowKey=${({ boxKey }) => boxKey} label=${`Boxes of ${testId}`} />
    ${hidden > 0 && html`<p class="quiet">and ${counted(hidden, "more box", "more boxes")}</p>`}
  </div>`;
}

/** Since when the test is flaky, and on which boxes: an estimate, no rule. */
function suggested({ flakeRate, low, high, text }) {
  return `Flake rate ${percent(flakeRate)} (${range(low, high)}). Its runs suggest: ${text}`;
}
