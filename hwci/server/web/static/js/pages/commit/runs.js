// SPDX-License-Identifier: Apache-2.0
// The runs of a commit, a row for each box.

import { count } from "../../format.js";
import { html } from "../../html.js";
import { PlainTable } from "../../parts/table/table.js";
import { BoxLink } from "../../parts/values/past.js";
import { Time } from "../../parts/values/values.js";
import { RunLink } from "../../parts/values/words.js";
import { NEVER_REACHED } from "../../words.js";

const named = (run, orgId) => html`<${RunLink} ...${{ run, orgId }} />`;

/** The table. */
export function Runs({ commit: { runs }, orgId }) {
  const columns = [
    { key: "run", fields: ["runId", "runAttempt", "runRecordId"], title: "Run", words: true, cell: (run) => named(run, orgId) },
    { key: "boxKey", title: "Box", fixed: true, cell: ({ boxKey }) => html`<${BoxLink} plain ...${{ boxKey, orgId }} />` },
    { key: "suite", title: "Product", cell: ({ suite }) => suite },
    { key: "branch", title: "Branch", cell: ({ branch }) => branch },
    { key: "startedAt", title: "Started", words: true, cell: ({ startedAt }) => html`<${Time} at=${startedAt} />` },
    { key: "tests", fields: ["tests", "helloOk"], title: "Tests", numeric: true, cell: ({ tests, helloOk }) =>
      (helloOk ? count(tests) : html`<span class="none">${NEVER_REACHED.toLowerCase()}</span>`) },
    { key: "failed", title: "Failed", numeric: true, cell: ({ failed }) =>
      html`<span class=${failed ? "is-bad" : "none"}>${count(failed)}</span>` },
  ];
  return html`<${PlainTable} name="runs" label="Runs of the commit" columns=${columns} rows=${runs}
    rowKey=${({ runRecordId, suite }) => `${runRecordId} ${suite}`} />`;
}
