// SPDX-License-Identifier: Apache-2.0
// The table "Real FW bugs caught" (spec, "Metrics page (dashboard)").

import { counted } from "../../format.js";
import { html } from "../../html.js";
import { Section } from "../../parts/section.js";
import { ByCause } from "./by_cause.js";
import { CauseSwitch, isByCause } from "./cause_switch.js";
import { EachFailure } from "./each_failure.js";
import { endColumns, verdictColumn } from "./failure_columns.js";
import { firstOf } from "./first_page.js";
import { LostBoards, NONE_LOST, isOnlyLost, lostIn, lostRows } from "./lost_boards.js";
import { ToReview } from "./review.js";
import { TITLES } from "../../words.js";

const NONE_REAL =
  "No failure of this period counts as a firmware bug. Failures resolved otherwise are listed below, with the reason.";
const NONE_RESOLVED =
  "No failure of this period is resolved yet: a test that failed has to pass on a later commit, on the same box.";

/** The table. */
export function RealBugs({ address, base, scope, several, page, figures, products, orgId, reviews, turn }) {
  const { total } = page.realBugs;
  const number = figures.data?.lostBoards?.realBugs;
  const only = isOnlyLost("bugs", address.query);
  const lost = lostRows({ orgId, query: scope, table: "realBugs" });
  const rows = only ? { ...lost, total: number } : { path: `${base}/real-bugs`, query: scope, total };
  const none = page.otherFailures.total ? NONE_REAL : NONE_RESOLVED;
  const table = {
    ...{ name: "bugs", label: TITLES.realFwBugs, address, orgId, product: page.product, several, reviews, isLost: lostIn(figures) },
    ...{ columns: [...endColumns, verdictColumn], empty: only ? NONE_LOST : none },
  };
  return html`<${Section} title=${TITLES.realFwBugs} total=${total} anchor="bugs">
    <${Unconfigured} products=${(products ?? []).filter((one) => !one.configured && one.lastReportAt && isOf(one, page.product))} />
    ${total > 0 && html`<${CauseSwitch} ...${{ ...table, turn }} failures=${rows.total}
      causes=${only ? undefined : figures.data?.realBugCauses?.total} />`}
    <${LostBoards} ...${{ ...table, number, rows: lost }} />
    <${ToReview} ...${{ orgId, scope, total: page.tiles.realFwBugs.ambiguous, before: total > 0 && "Not among these, " }} />
    ${isByCause("bugs", address.query)
      ? html`<${ByCause} ...${table} query=${{ ...scope, table: "realBugs", lostBoard: only || null }} saves=${rows}
        first=${only ? undefined : firstOf(figures, (all) => all.realBugCauses)} />`
      : html`<${EachFailure} ...${table} path=${rows.path} query=${rows.query} thing="bug" first=${only ? undefined : page.realBugs} />`}
  <//>`;
}

/** The products whose failures the checks cannot decide, and what to do about it. */
function Unconfigured({ products }) {
  if (products.length === 0) return null;
  const [who, are] = products.length === 1 ? [products[0].suite, "has"] : [counted(products.length, "product"), "have"];
  return html`<p class="quiet">${who} ${are} no suite configuration, so no failure there counts as a firmware
    bug unless a person confirms it. Name the firmware and the harness files: <code>hwci suite-config apply</code></p>`;
}

function isOf({ repoKey, suite }, product) {
  return !product || (repoKey === product.repoKey && suite === (product.suite ?? suite));
}
