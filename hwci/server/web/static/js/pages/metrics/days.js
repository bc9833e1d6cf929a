// SPDX-License-Identifier: Apache-2.0
// The trends of the tiles as a table, for those who read figures rather than bars.

import { count, slotName } from "../../format.js";
import { html } from "../../html.js";
import { Failed, Waiting } from "../../parts/notice.js";
import { PlainTable } from "../../parts/table.js";

const FIGURES = [
  ["Merges checked", (slot) => `${count(slot.mergesChecked)} of ${count(slot.mergesAnnounced)}`],
  ["Real FW bugs", (slot) => count(slot.realFwBugs)],
  ["Flaky failures", (slot) => count(slot.flakyFailures)],
  ["Infra runs", (slot) => `${count(slot.infraRuns)} of ${count(slot.runs)}`],
];

const COLUMNS = [
  { key: "day", title: "Day", cell: slotName },
  ...FIGURES.map(([title, cell]) => ({ key: title, title, cell, numeric: true })),
];

/** The figures of each day, the last first. */
export function Days({ trend }) {
  return html`
    ${trend.error && html`<${Failed} error=${trend.error} again=${trend.again} />`}
    ${trend.data
      ? html`<${PlainTable} label="Day by day" columns=${COLUMNS} rows=${[...trend.data.slots].reverse()} rowKey=${(slot) => slot.from} />`
      : !trend.error && html`<${Waiting} />`}
  `;
}
