// SPDX-License-Identifier: Apache-2.0
// The table "Real FW bugs caught" (spec, "Metrics page (dashboard)").

import { counted } from "../../format.js";
import { html } from "../../html.js";
import { Section } from "../../parts/section.js";
import { PagedTable } from "../../parts/table/table.js";
import { Suspects } from "../../parts/values/suspects.js";
import { Sha, Time } from "../../parts/values/values.js";
import { ByCause, CauseSwitch, isByCause } from "./cause_switch.js";
import { failureColumns, verdictColumn } from "./failure_columns.js";
import { reviewColumns } from "./review.js";

const NONE_REAL =
  "No failure of this period counts as a firmware bug. Failures resolved otherwise are listed below, with the reason.";
const NONE_RESOLVED =
  "No failure of this period is resolved yet: a test that failed has to pass on a later commit, on the same box.";

/** The table. */
export function RealBugs({ address, base, scope, several, page, products, orgId, reviews }) {
  const [test, ...known] = failureColumns(orgId, page.product, several);
  const began = [
    ...known,
    { key: "brokenBy", title: "Broken by", cell: brokenBy },
    { key: "fix", title: "Fixed by", cell: fixedBy },
  ];
  const columns = [test, ...began, verdictColumn, ...reviewColumns(reviews)];
  const table = { name: "bugs", label: "Real FW bugs caught", address, empty: page.otherFailures.total ? NONE_REAL : NONE_RESOLVED };
  return html`<${Section} title="Real FW bugs caught" total=${page.realBugs.total} anchor="bugs">
    <${Unconfigured} products=${(products ?? []).filter((one) => !one.configured && one.lastReportAt && isOf(one, page.product))} />
    <${CauseSwitch} ...${table} />
    ${isByCause("bugs", address.query)
      ? html`<${ByCause} ...${table} ...${{ orgId, reviews }} query=${{ ...scope, table: "realBugs" }} columns=${began} />`
      : html`<${PagedTable} folds ...${table} thing="bug" path=${`${base}/real-bugs`} query=${scope}
        turn=${reviews.turn} first=${page.realBugs} columns=${columns} rowKey=${(row) => row.id} />`}
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

/** What broke a test. */
export function brokenBy({ repoKey, brokenBy: range }) {
  return html`<${Suspects} range=${range} repo=${repoKey} />`;
}

/** What fixed a test. */
export function fixedBy({ repoKey: repo, fix }) {
  if (!fix) return html`<span class="quiet">unknown</span>`;
  return html`<${Sha} sha=${fix.sha} repo=${repo} /> <span class="under"><${Time} at=${fix.startedAt} /></span>`;
}
