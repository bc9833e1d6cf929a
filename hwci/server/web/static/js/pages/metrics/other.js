// SPDX-License-Identifier: Apache-2.0
// The table "Resolved by a bench or harness change" (spec, "Metrics page (dashboard)").

import { change } from "../../address.js";
import { html } from "../../html.js";
import { later } from "../../parts/later.js";
import { Collapsed } from "../../parts/section.js";
import { PagedTable } from "../../parts/table/table.js";
import { OTHER_CLASSES, classBadge, className } from "../../parts/values/words.js";
import { brokenBy, fixedBy } from "./bugs.js";
import { ByCause, CauseSwitch, isByCause } from "./cause_switch.js";
import { failureColumns, verdictColumn } from "./failure_columns.js";
import { reviewColumns } from "./review.js";

const Gaps = later(() => import("./gaps.js"), "Gaps");
const NONE = "No other failure was resolved in this period. Tests that still fail are pending, above.";
const TITLE = "Resolved by a bench or harness change, ambiguous or dismissed";

/** The table, collapsed until its title is clicked. */
export function OtherFailures({ address, base, scope, several, page, orgId, reviews }) {
  const open = address.query.get("other") === "open";
  const ofClass = address.query.get("other.class");
  const [test, ...known] = failureColumns(orgId, page.product, several);
  const columns = [
    test,
    ...known,
    { key: "reason", fields: ["class", "reason", "reasonText"], title: "Reason", sort: "class", cell: (row) => reason(reviews.now(row)) },
    verdictColumn,
    ...reviewColumns(reviews),
  ];
  const empty = ofClass ? "No failure of this period has this class. “All” shows the other classes." : NONE;
  const table = { name: "other", label: TITLE, address, empty };
  const query = { ...scope, class: ofClass };
  const began = [...known, { key: "brokenBy", title: "Broken by", cell: brokenBy }, { key: "fix", title: "Fixed by", cell: fixedBy }];
  return html`<${Collapsed} title=${TITLE} total=${page.otherFailures.total} anchor="other" open=${open}
    onToggle=${() => change({ other: open ? null : "open" }, { replace: true })}>
    <${Classes} chosen=${ofClass} />
    <${CauseSwitch} ...${table} />
    ${isByCause("other", address.query)
      ? html`<${ByCause} ...${table} ...${{ orgId, reviews }} query=${{ ...query, table: "otherFailures" }} columns=${began} />`
      : html`<${PagedTable} folds ...${table} thing="failure" path=${`${base}/other-failures`} query=${query}
        turn=${reviews.turn} first=${ofClass ? undefined : page.otherFailures} columns=${columns} rowKey=${(row) => row.id} />`}
    ${page.tiles.realFwBugs.ambiguous > 0 && html`<${WhatWouldDecide} ...${{ address, orgId, scope }} turn=${reviews.turn} />`}
  <//>`;
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
