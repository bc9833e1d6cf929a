// SPDX-License-Identifier: Apache-2.0
// A table of resolved failures with a row for each cause (contract, "Answers beside the rules"): what one commit broke
// and one fixed is unfolded in place and reviewed together, with a note.

import { change } from "../../address.js";
import { html, useEffect, useRef } from "../../html.js";
import { Answer } from "../../parts/reviews/answer.js";
import { PagedTable } from "../../parts/table/table.js";
import { CauseFailures, DecidedBy, causeName } from "../../parts/values/cause.js";
import { LongName, Sha, Time } from "../../parts/values/values.js";
import { FailureLink, classBadge, verdict } from "../../parts/values/words.js";

/** The table. `query`: which failures it is of; `columns`: of one failure, shown of the first of a cause. */
export function ByCause({ name, label, address, orgId, query, columns, reviews, empty }) {
  const { together, review, draft, may, turn } = reviews;
  const open = address.query.get(`${name}.cause`);
  const writes = useRef(null); // the cause whose note the reader begins with
  const unfold = (cause, toWrite = false) => {
    const isOpen = open === cause.id;
    writes.current = toWrite && !isOpen ? cause.id : null;
    change({ [`${name}.cause`]: isOpen ? null : cause.id }, { replace: true });
  };
  useEffect(() => {
    writes.current = null; // once: a cause that comes back takes no focus
  });
  const shown = [
    { key: "cause", title: "Test and box", name: true, cell: (cause) => html`<${What} ...${{ cause, orgId, open, unfold }} />` },
    ...columns.map(({ sort: _sort, own: _own, ...column }) => ({
      ...column,
      cell: ({ failures: [one] }) => (column.key === "first" ? html`<${First} ...${one} />` : column.cell(one)),
    })),
    { key: "verdicts", title: "Harness verdict", cell: ({ failures }) => each(failures, (one) => one.verdict).map(verdict) },
    { key: "classes", title: "Class and status", cell: ({ failures }) => html`${each(failures, (one) => one.class).map(classBadge)}
      <span class="under">${each(failures, (one) => one.status).join(", ")}</span>` },
    ...(may ? [{ key: "review", title: "Review", cell: (cause) => html`<${Begin} ...${{ cause, open, unfold }} />` }] : []),
  ];
  return html`<${PagedTable} folds unfolds=${`${name}.cause`} name=${name} label=${label} thing="cause"
    path=${`/api/orgs/${orgId}/ci-analysis/causes`}
    query=${query} turn=${turn} address=${address} columns=${shown} rowKey=${({ id }) => id} empty=${empty}
    below=${(cause) => cause.id === open && html`<${DecidedBy} ...${cause} /><${CauseFailures} ...${{ orgId, cause }} />
      ${may && html`<${Answer} ...${{ cause, together, review, draft }} name=${causeName(cause)} begin=${writes.current === cause.id} />`}`}
    totalled />`;
}

function What({ cause, orgId, open, unfold }) {
  const [first] = cause.failures;
  if (cause.failuresTotal === 1) return html`<${FailureLink} failure=${first} orgId=${orgId} />`;
  return html`<button type="button" class="fold" aria-expanded=${cause.id === open ? "true" : "false"}
      onClick=${() => unfold(cause)}><${LongName} name=${causeName(cause)} /></button>
    <span class="under">${first.branch}</span>`;
}

/** When the cause was first seen, and where; the unfolded failures lead to the rest. */
function First({ repoKey: repo, firstFailure: { startedAt, sha } }) {
  return html`<${Time} at=${startedAt} /> <span class="under"><${Sha} sha=${sha} repo=${repo} /></span>`;
}

/** Unfolds the cause: who reviews its failures sees them, and may write why. */
function Begin({ cause, open, unfold }) {
  const name = causeName(cause);
  const begin = ({ pointerType }) => unfold(cause, pointerType !== "touch"); // a finger would raise the keyboard
  return html`<div class="actions"><button type="button" aria-expanded=${cause.id === open ? "true" : "false"}
    aria-label=${`Review: ${name}`} onClick=${begin}>Review</button></div>`;
}

function each(failures, of) {
  return [...new Set(failures.map(of))];
}
