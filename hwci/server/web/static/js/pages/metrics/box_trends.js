// SPDX-License-Identifier: Apache-2.0
// How the shares of each product and box changed against the period before (ADR 0074). The API computes every figure and
// writes every sentence.

import { addressOf } from "../../address.js";
import { useAnswer } from "../../asking.js";
import { count, productName } from "../../format.js";
import { html } from "../../html.js";
import { Failed, Waiting } from "../../parts/notices/notice.js";
import { periodHere } from "../../parts/frame/scope.js";
import { BoxLink } from "../../parts/values/past.js";
import { PlainTable } from "../../parts/table/table.js";

const ROWS = 100; // the most that the API gives at once

const columns = (orgId, several) => [
  { key: "product", title: "Product", fixed: true, cell: (row) => productName(row, several) },
  {
    key: "box",
    title: "Box",
    fixed: true,
    cell: ({ boxKey }) => (boxKey ? html`<${BoxLink} plain boxKey=${boxKey} orgId=${orgId} />` : "All boxes"),
  },
  { key: "reached", title: "Runs that reached the hardware", words: true, cell: ({ reached }) => said(reached) },
  { key: "blamed", title: "Results blamed on the bench", words: true, cell: ({ blamed }) => said(blamed) },
  { key: "failedAttempts", title: "Flake rate: failed attempts", words: true, cell: ({ failedAttempts }) => said(failedAttempts) },
];

/** A sentence, which on a phone has the width of the card. */
function said({ says }) {
  return html`<span class="sentence">${says}</span>`;
}

/** The shares of a period: of each product, then of its boxes. */
export function BoxTrends({ orgId, scope }) {
  const asked = useAnswer(`/api/orgs/${orgId}/ci-analysis/box-trends`, { ...scope, limit: ROWS });
  if (!asked.data) return asked.error ? html`<${Failed} error=${asked.error} again=${asked.again} />` : html`<${Waiting} />`;
  const { items, total } = asked.data;
  const several = new Set(items.map(({ repoKey }) => repoKey)).size > 1;
  if (total === 0) return html`<p class="quiet">No box reported in this period.</p>`;
  const before = items[0].reached.before ? "“Before” is the same number of days before." : "The days before were not all recorded.";
  return html`<p>Which box is worse than the others: <a href=${addressOf("boxes", { orgId }, periodHere())}>Boxes compared</a></p>
    <p class="quiet">All runs of the period, whatever they tested. ${before} Runs that reached the
      hardware count each by itself, as in the tile: where a bench was away for days, their range is too narrow.</p>
    <${PlainTable} name="box-trends" label="How each box changed" columns=${columns(orgId, several)} rows=${items}
      rowKey=${(row) => JSON.stringify([row.repoKey, row.suite, row.boxKey])} />
    ${total > items.length && html`<p class="quiet">${count(total - items.length)} rows more: hwci metrics --table box-trends</p>`}`;
}
