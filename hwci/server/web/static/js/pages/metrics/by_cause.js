// SPDX-License-Identifier: Apache-2.0
// A table of resolved failures with a row for each cause (contract, "Answers beside the rules"): what one commit broke
// and one fixed is unfolded in place and reviewed together, with a note.

import { change } from "../../address.js";
import { counted } from "../../format.js";
import { html, useRef } from "../../html.js";
import { productColumn } from "../../parts/frame/scope.js";
import { later } from "../../parts/later.js";
import { PagedTable } from "../../parts/table/table.js";
import { causeBoxes, causeName, causeTests } from "../../parts/values/cause_name.js";
import { BoxLink } from "../../parts/values/past.js";
import { LongName, Sha, Time } from "../../parts/values/values.js";
import { FailureLink } from "../../parts/values/words.js";
import { BoardLost } from "./lost_boards.js";

const UnfoldedCause = later(() => import("./unfolded_cause.js"), "UnfoldedCause");
const FIRST = { key: "firstFailure", title: "First failure", cell: firstSeen };
const STATUS = { key: "status", title: "Status", words: true, cell: statusOf, of: statusOf };

/**
 * The table. `query`: which failures it is of; `first`, `saves`: as `PagedTable` takes them: a file has a row for each
 * failure; `columns`: of one failure, between those by which a cause is known and its status. One is shown of the first
 * failure of a cause, or where it has `of(failure)`, of each that differs in this. `isLost(failure)`: it lies in runs that lost
 * their board.
 */
export function ByCause({ name, label, address, orgId, product, several, query, saves, first, columns, reviews, empty, isLost }) {
  const { together, review, draft, may, turn } = reviews;
  const open = address.query.get(`${name}.cause`);
  const writes = useRef(null); // the cause whose note the reader begins with, once: one that comes back takes no focus
  const unfold = (cause, toWrite = false) => {
    const isOpen = open === cause.id;
    writes.current = toWrite && !isOpen ? cause.id : null;
    change({ [`${name}.cause`]: isOpen ? null : cause.id }, { replace: true });
  };
  const answerOf = (cause) => may && {
    ...{ together, review, draft, name: causeName(cause) },
    begin: writes.current === cause.id,
    begun: () => (writes.current = null),
  };
  // A search finds causes with a failure that fits: how many of these fit is not known here.
  const total = address.query.get(`${name}.search`) ? null : saves.total;
  const shown = [
    { key: "test", title: "Test and box", name: true, cell: (cause) => html`<${What} ...${{ cause, orgId, open, unfold }} />
      <${BoardLost} ...${{ failures: cause.failures, isLost }} />` },
    ...[...productColumn(product, several), FIRST, ...columns, STATUS].map(ofCause),
    ...(may ? [{ key: "review", title: "Review", cell: (cause) => html`<${Begin} ...${{ cause, open, unfold }} />` }] : []),
  ];
  return html`<${PagedTable} ...${{ name, label, first, query, turn, address, empty }} folds unfolds=${`${name}.cause`}
    totalled=${first === undefined} thing="cause" path=${causesOf(orgId)} saves=${{ ...saves, total }} columns=${shown}
    rowKey=${({ id }) => id}
    below=${(cause) => cause.id === open && html`<${UnfoldedCause} ...${{ cause, orgId }} answer=${answerOf(cause)} />`} />`;
}

/** Where the API lists causes. */
export function causesOf(orgId) {
  return `/api/orgs/${orgId}/ci-analysis/causes`;
}

/** When the cause was first seen, and where; its failures, unfolded, lead to the rest. */
function firstSeen({ repoKey: repo, firstFailure: { startedAt, sha } }) {
  return html`<span class="since"><${Time} at=${startedAt} /></span> <span class="under"><${Sha} sha=${sha} repo=${repo} /></span>`;
}

function statusOf({ status }) {
  return status;
}

/** A column of causes; theirs cannot be sorted. */
function ofCause({ sort: _sort, own: _own, of = (_row) => null, cell, ...column }) {
  const isNew = (one, at, all) => all.findIndex((other) => of(other) === of(one)) === at;
  return { ...column, cell: ({ failures }) => failures.filter(isNew).map((one) => html`<div key=${one.id}>${cell(one)}</div>`) };
}

function What({ cause, orgId, open, unfold }) {
  const { failures: [first], failuresTotal, boxesTotal } = cause;
  if (failuresTotal === 1) return html`<${FailureLink} failure=${first} orgId=${orgId} />`;
  return html`<button type="button" class="fold" aria-expanded=${cause.id === open ? "true" : "false"}
      aria-label=${causeName(cause)} onClick=${() => unfold(cause)}><${LongName} name=${causeTests(cause)} /></button>
    <span class="under">${counted(failuresTotal, "failure")} on ${boxesTotal === 1
      ? html`<${BoxLink} plain boxKey=${first.boxKey} orgId=${orgId} />` : causeBoxes(cause)} · ${first.branch}</span>`;
}

/** Unfolds the cause: who reviews its failures sees them, and may write why. */
function Begin({ cause, open, unfold }) {
  const name = causeName(cause);
  const begin = ({ pointerType }) => unfold(cause, pointerType !== "touch"); // a finger would raise the keyboard
  return html`<div class="actions"><button type="button" aria-expanded=${cause.id === open ? "true" : "false"}
    aria-label=${`Review: ${name}`} onClick=${begin}>Review</button></div>`;
}
