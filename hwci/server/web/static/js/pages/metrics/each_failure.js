// SPDX-License-Identifier: Apache-2.0
// A table of resolved failures with the specification's rows, one for each failure, which can be sorted, and reviewed one
// by one.

import { counted } from "../../format.js";
import { html } from "../../html.js";
import { productColumn } from "../../parts/frame/scope.js";
import { useNextButton } from "../../parts/reviews/next_button.js";
import { Refused } from "../../parts/reviews/refused.js";
import { fittingActions } from "../../parts/reviews/review.js";
import { PagedTable } from "../../parts/table/table.js";
import { Sha, Time } from "../../parts/values/values.js";
import { FailureLink } from "../../parts/values/words.js";
import { BoardLost } from "./lost_boards.js";

/**
 * The table. `columns`: between those by which a failure is known and those of its review; `isLost(row)`: it lies in runs that
 * lost their board.
 */
export function EachFailure({ orgId, product, several, reviews, columns, isLost, ...table }) {
  return html`<${PagedTable} folds ...${table} turn=${reviews.turn} rowKey=${(row) => row.id}
    columns=${[...knownBy(orgId, product, several, isLost), ...columns, ...reviewColumns(reviews)]} />`;
}

function knownBy(orgId, product, several, isLost) {
  return [
    {
      key: "test",
      title: "Test and box",
      sort: "testId",
      name: true,
      cell: (row) => html`<${FailureLink} failure=${row} orgId=${orgId} /><${BoardLost} ...${{ failures: [row], isLost }} />`,
    },
    ...productColumn(product, several),
    {
      key: "firstFailure",
      title: "First failure",
      fields: ["firstFailure", "failingCommits", "lastFailingSha"],
      sort: "startedAt",
      own: "down",
      cell: firstFailure,
    },
  ];
}

function firstFailure(row) {
  const { repoKey: repo, failingCommits, lastFailingSha } = row;
  return html`<${Time} at=${row.firstFailure.startedAt} />
    <span class="under"><${Sha} sha=${row.firstFailure.sha} repo=${repo} /></span>
    ${failingCommits > 1 &&
      html`<span class="under">${counted(failingCommits, "commit")}, to <${Sha} sha=${lastFailingSha} repo=${repo} /></span>`}`;
}

/** Status, and the actions for reviewers. */
function reviewColumns(reviews) {
  const status = { key: "status", title: "Status", words: true, cell: (row) => reviews.now(row).status };
  const actions = { key: "review", title: "Review", cell: (row) => html`<${Actions} row=${row} reviews=${reviews} />` };
  return reviews.may ? [status, actions] : [status];
}

function Actions({ row, reviews }) {
  const { doing, lost } = reviews.together.stateOf(row.id);
  const { place, leave, press } = useNextButton();
  const act = (action) => {
    if (doing || lost) return;
    press();
    reviews.review(row.id, [row], action.name);
  };
  return html`<div class="actions" tabindex="-1" ref=${place} onFocusOut=${leave}>
    ${fittingActions([row]).map((action) => html`<button key=${action.name} type="button"
      aria-disabled=${doing || lost ? "true" : undefined} onClick=${() => act(action)}
      aria-label=${`${action.title} ${row.testId} on ${row.boxKey}`}>
      ${doing === action.name ? action.doing : action.title}
    </button>`)}
    <${Refused} ...${{ together: reviews.together, id: row.id, focus: place }} />
  </div>`;
}
