// SPDX-License-Identifier: Apache-2.0
// How long failures took until they were seen, and fixed, by product and box (ADR 0009). The API computes every
// figure and writes every sentence.

import { useAnswer } from "../../asking.js";
import { count, productName } from "../../format.js";
import { html } from "../../html.js";
import { Failed, Waiting } from "../../parts/notices/notice.js";
import { BoxLink } from "../../parts/values/past.js";
import { PlainTable } from "../../parts/table/table.js";
import { TIMES, TITLES } from "../../words.js";

const ROWS = 100; // the most that the API gives at once

const withBefore = (of) => (row) =>
  html`${row[of].says}${row.before && html` <span class="quiet">· before: ${row.before[of].half}</span>`}`;

const columns = (orgId, several) => [
  { key: "product", title: "Product", fixed: true, cell: (row) => (row.repoKey === null ? "All products" : productName(row, several)) },
  {
    key: "box",
    title: "Box",
    fixed: true,
    cell: ({ boxKey }) => (boxKey ? html`<${BoxLink} plain boxKey=${boxKey} orgId=${orgId} />` : "All boxes"),
  },
  { key: "incidents", title: "Incidents", cell: (row) => count(row.incidents), numeric: true },
  { key: "failing", title: "Still failing", cell: (row) => count(row.failing), numeric: true },
  { key: "toDetect", title: TIMES.toDetect, cell: withBefore("toDetect") },
  { key: "toFix", title: TIMES.toFix, cell: withBefore("toFix") },
];

/** The times of a period: of all, then of each product with its boxes. */
export function TimesToFix({ orgId, scope, turn }) {
  const asked = useAnswer(`/api/orgs/${orgId}/ci-analysis/times-to-fix`, { ...scope, limit: ROWS }, turn);
  if (!asked.data) return asked.error ? html`<${Failed} error=${asked.error} again=${asked.again} />` : html`<${Waiting} />`;
  const { items, total } = asked.data;
  const several = new Set(items.map(({ repoKey }) => repoKey)).size > 2; // null: of all
  if (total === 0) return html`<p class="quiet">No failure began in this period, or each was a flake.</p>`;
  const before = items[0].before ? "“Before” is the same number of days before." : "The days before were not all recorded.";
  return html`<p class="quiet">Incidents that began in this period. Half of them took no longer than the time shown. ${before}</p>
    <${PlainTable} name="times-to-fix" label=${TITLES.timesToFix} columns=${columns(orgId, several)} rows=${items}
      rowKey=${(row) => JSON.stringify([row.repoKey, row.suite, row.boxKey])} />
    ${total > items.length && html`<p class="quiet">${count(total - items.length)} rows more: hwci metrics --table times-to-fix</p>`}`;
}
