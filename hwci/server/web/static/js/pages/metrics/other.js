// SPDX-License-Identifier: Apache-2.0
// The table "Resolved by a bench or harness change" (spec, "Metrics page (dashboard)").

import { change } from "../../address.js";
import { useAnswer } from "../../asking.js";
import { html } from "../../html.js";
import { later } from "../../parts/later.js";
import { Collapsed } from "../../parts/section.js";
import { tableState } from "../../parts/table/table.js";
import { OTHER_CLASSES, className } from "../../parts/values/classes.js";
import { classBadge } from "../../parts/values/words.js";
import { ByCause, causesOf } from "./by_cause.js";
import { CauseSwitch, isByCause } from "./cause_switch.js";
import { EachFailure } from "./each_failure.js";
import { endColumns, verdictColumn } from "./failure_columns.js";
import { firstOf } from "./first_page.js";
import { LostBoards, NONE_LOST, isOnlyLost, lostIn, lostRows } from "./lost_boards.js";
import { TITLES } from "../../words.js";

const Gaps = later(() => import("./gaps.js"), "Gaps");
const NONE = "No other failure was resolved in this period. Tests that still fail are pending, above.";
const NONE_OF_CLASS = "No failure of this period has this class. “All” shows the other classes.";
const TITLE = TITLES.otherFailures;
const NUMBERS = { bench_or_harness: "benchOrHarness", ambiguous: "ambiguous", dismissed: "dismissed" }; // of the tile, by class

const OF_TABLE = { table: "otherFailures" };
const REASON = {
  ...{ key: "reason", fields: ["class", "reason", "reasonText"], title: "Reason" },
  cell: reason,
  of: (row) => `${row.class} ${row.reasonText}`,
};

/** Ask for the first causes where the table shows them; null where it does not. `may`: what goes before has come. */
export function useOtherCauses({ address: { query }, orgId, scope, turn, may }) {
  const shown = may && isOpen(query) && isByCause("other", query) && tableState("other", query).plain;
  const answer = useAnswer(shown ? causesOf(orgId) : null, causesQuery(scope, query), turn);
  return shown ? answer : null;
}

/** The table, collapsed until its title is clicked. `causes`: of `useOtherCauses`. */
export function OtherFailures({ address, base, scope, several, page, figures, causes, orgId, reviews, turn }) {
  const open = isOpen(address.query);
  const query = queryOf(scope, address.query);
  const ofClass = query.class;
  const failures = ofClass ? page.tiles.realFwBugs[NUMBERS[ofClass]] : page.otherFailures.total;
  const only = isOnlyLost("other", address.query);
  const lost = lostRows({ orgId, query, ...OF_TABLE });
  const number = ofClass ? null : figures.data?.lostBoards?.otherFailures;
  const rows = only ? { ...lost, total: number ?? null } : { path: `${base}/other-failures`, query, total: failures };
  const none = ofClass ? NONE_OF_CLASS : NONE;
  const table = {
    ...{ name: "other", label: TITLE, address, orgId, product: page.product, several, reviews, isLost: lostIn(figures) },
    empty: only ? NONE_LOST : none,
  };
  const reasonNow = { ...REASON, sort: "class", cell: (row) => reason(reviews.now(row)) };
  return html`<${Collapsed} title=${TITLE} total=${page.otherFailures.total} anchor="other" open=${open}
    onToggle=${() => change({ other: open ? null : "open" }, { replace: true })}>
    <${Classes} chosen=${ofClass} />
    ${failures > 0 && html`<${CauseSwitch} ...${{ ...table, turn }} causes=${causes?.data?.total} failures=${rows.total} />`}
    <${LostBoards} ...${{ ...table, number, rows: lost }} />
    ${isByCause("other", address.query)
      ? html`<${ByCause} ...${table} query=${causesQuery(scope, address.query)} first=${causes ? firstOf(causes) : undefined}
        saves=${rows} columns=${[REASON, ...endColumns]} />`
      : html`<${EachFailure} ...${table} path=${rows.path} query=${rows.query} thing="failure"
        first=${ofClass || only ? undefined : page.otherFailures} columns=${[reasonNow, verdictColumn]} />`}
    ${page.tiles.realFwBugs.ambiguous > 0 && html`<${WhatWouldDecide} ...${{ address, orgId, scope }} turn=${reviews.turn} />`}
  <//>`;
}

function isOpen(query) {
  return query.get("other") === "open";
}

function queryOf(scope, query) {
  return { ...scope, class: query.get("other.class") };
}

/** What the causes of the rows are asked by. */
function causesQuery(scope, query) {
  return { ...queryOf(scope, query), ...OF_TABLE, lostBoard: isOnlyLost("other", query) || null };
}

/** The gaps, below the failures that they leave ambiguous. They take space, so a click unfolds them. */
function WhatWouldDecide({ address, ...asked }) {
  const open = address.query.get("other.gaps") === "open";
  const toggle = () => change({ "other.gaps": open ? null : "open" }, { replace: true });
  return html`<h3><button type="button" class="fold" aria-expanded=${open ? "true" : "false"} onClick=${toggle}>What would decide
    the ambiguous ones</button></h3>
    ${open && html`<${Gaps} ...${asked} />`}`;
}

function Classes({ chosen }) {
  const choose = (event) => change({ "other.class": event.target.value || null, "other.page": null });
  return html`<label class="class-choice">Class
    <select value=${chosen ?? ""} onChange=${choose}>
      <option value="">All</option>
      ${OTHER_CLASSES.map((name) => html`<option key=${name} value=${name}>${className(name)}</option>`)}
    </select>
  </label>`;
}

function reason(row) {
  return html`${classBadge(row.class)} <span class="under">${row.reasonText}</span>`;
}
