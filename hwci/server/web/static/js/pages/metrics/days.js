// SPDX-License-Identifier: Apache-2.0
// The trends of the tiles as a table, for those who read figures rather than bars. Days are those of the reader.

import { count, dayName } from "../../format.js";
import { html } from "../../html.js";
import { Failed, Waiting } from "../../parts/notices/notice.js";
import { PlainTable } from "../../parts/table/table.js";

/** Title, the fields that it tells, how. @type {[string, string[], (day: any) => string][]} */
const FIGURES = [
  [
    "Merges checked",
    ["mergesChecked", "mergesAnnounced", "checked"],
    (day) => `${count(day.mergesChecked)} of ${count(day.mergesAnnounced)}`,
  ],
  ["Real FW bugs", ["realFwBugs"], (day) => count(day.realFwBugs)],
  ["Flaky failures", ["flakyFailures"], (day) => count(day.flakyFailures)],
  ["Infra runs", ["infraRuns", "runs", "infra"], (day) => `${count(day.infraRuns)} of ${count(day.runs)}`],
];

const COLUMNS = [
  { key: "day", title: "Day", cell: (day) => `${dayName(day)}${day.whole ? "" : " (part of it)"}` },
  ...FIGURES.map(([title, fields, cell]) => ({ key: title, title, fields, cell, numeric: true })),
];

/** The figures of each day, the last first. */
export function Days({ trend }) {
  return html`
    ${trend.error && html`<${Failed} error=${trend.error} again=${trend.again} />`}
    ${trend.data
      ? html`<${PlainTable} name="days" label="Day by day" columns=${COLUMNS}
          rows=${[...trend.data.days].reverse()} rowKey=${(day) => day.from} />`
      : !trend.error && html`<${Waiting} />`}
  `;
}
