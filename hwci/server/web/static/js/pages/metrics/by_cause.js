// SPDX-License-Identifier: Apache-2.0
// A table of resolved failures with a row for each cause (contract, "Answers beside the rules"): what one commit broke
// and one fixed is unfolded in place and reviewed together.

import { change } from "../../address.js";
import { html, useRef } from "../../html.js";
import { CauseFailures, causeName } from "../../parts/values/cause.js";
import { PagedTable } from "../../parts/table/table.js";
import { Refused } from "../../parts/reviews/refused.js";
import { reviewsOf } from "../../parts/reviews/together.js";
import { FailureLink, classBadge, verdict } from "../../parts/values/words.js";

const ANSWERS = [
  ["confirm", "Confirm as firmware bug"],
  ["dismiss", "Dismiss"],
];

/** The table. `query`: which failures it is of; `columns`: of one failure, shown of the first of a cause. */
export function ByCause({ name, label, address, orgId, query, columns, reviews, empty }) {
  const open = address.query.get(`${name}.cause`);
  const unfold = (cause) => change({ [`${name}.cause`]: open === cause.id ? null : cause.id }, { replace: true });
  const shown = [
    { key: "cause", title: "Test and box", name: true, cell: (cause) => html`<${What} ...${{ cause, orgId, open, unfold }} />` },
    ...columns.map(({ sort: _sort, own: _own, ...column }) => ({ ...column, cell: ({ failures }) => column.cell(failures[0]) })),
    { key: "verdicts", title: "Harness verdict", cell: ({ failures }) => each(failures, (one) => one.verdict).map(verdict) },
    { key: "classes", title: "Class", cell: ({ failures }) => each(failures, (one) => one.class).map(classBadge) },
    { key: "status", title: "Status", words: true, cell: ({ failures }) => each(failures, (one) => one.status).join(", ") },
    ...(reviews.may ? [{ key: "review", title: "Review", cell: (cause) => html`<${Actions} ...${{ cause, reviews }} />` }] : []),
  ];
  return html`<${PagedTable} folds name=${name} label=${label} thing="cause" path=${`/api/orgs/${orgId}/ci-analysis/causes`}
    query=${query} turn=${reviews.turn} address=${address} columns=${shown} rowKey=${({ id }) => id} empty=${empty}
    below=${(cause) => cause.id === open && html`<${CauseFailures} ...${{ orgId, cause }} />`} totalled />`;
}

function What({ cause, orgId, open, unfold }) {
  const [first] = cause.failures;
  if (cause.failuresTotal === 1) return html`<${FailureLink} failure=${first} orgId=${orgId} />`;
  return html`<button type="button" class="fold" aria-expanded=${cause.id === open ? "true" : "false"}
      onClick=${() => unfold(cause)}>${causeName(cause)}</button>
    <span class="under">${first.branch}</span>`;
}

function Actions({ cause, reviews: { together, review } }) {
  const { doing, lost } = together.stateOf(cause.id);
  const fitting = ANSWERS.filter(([action]) => reviewsOf(cause.failures, action).length > 0);
  const place = useRef(null);
  return html`<div class="actions" role="group" aria-label="Review" tabindex="-1" ref=${place}>
    ${fitting.map(([action, title]) => html`<button key=${action} type="button" aria-disabled=${doing || lost ? "true" : undefined}
      aria-label=${`${title}: ${causeName(cause)}`} onClick=${() => review(cause.id, cause.failures, action)}>${title}</button>`)}
    <${Refused} ...${{ together, id: cause.id, focus: place }} />
  </div>`;
}

function each(failures, of) {
  return [...new Set(failures.map(of))];
}
