// SPDX-License-Identifier: Apache-2.0
// What a commit broke, or fixed, of all failures of the period that name it (semantics, 5 and 6).

import { useAnswer } from "../../asking.js";
import { counted } from "../../format.js";
import { html } from "../../html.js";
import { Failed } from "../../parts/notices/notice.js";
import { Section } from "../../parts/section.js";
import { PlainTable } from "../../parts/table/table.js";
import { Badge, Time } from "../../parts/values/values.js";
import { FailureLink, classBadge } from "../../parts/values/words.js";
import { MAY_HAVE_BROKEN } from "../../words.js";

const ROWS = 100;
const EFFECTS = { fixed: ["good", "fixed"], broke: ["bad", "broke"], may: ["warn", MAY_HAVE_BROKEN.toLowerCase()] };

/** The section; nothing if no resolved failure has to do with it. */
export function Effects({ orgId, scope, sha }) {
  const query = { ...scope, search: sha, limit: ROWS };
  const base = `/api/orgs/${orgId}/ci-metrics`;
  const [bugs, others] = ["real-bugs", "other-failures"].map((table) => useAnswer(`${base}/${table}`, query));
  const failed = [bugs, others].find(({ error }) => error && error.status !== 404);
  if (failed) return html`<${Failed} error=${failed.error} again=${failed.again} />`;
  const answers = [bugs.data, others.data].filter(Boolean);
  const rows = answers.flatMap(({ items }) => items).map((row) => ({ ...row, effect: effectOf(row, sha) })).filter(({ effect }) => effect);
  if (rows.length === 0) return null;
  const more = answers.some(({ total, items }) => total > items.length);
  const columns = [
    { key: "effect", title: "It", words: true, cell: ({ effect: [kind, words] }) => html`<${Badge} kind=${kind}>${words}<//>` },
    {
      key: "id",
      fields: ["id", "testId", "boxKey", "branch"],
      title: "Failure",
      name: true,
      cell: (failure) => html`<${FailureLink} ...${{ failure, orgId }} />`,
    },
    { key: "class", title: "Counts as", words: true, cell: (row) => classBadge(row.class) },
    { key: "firstFailure", fields: ["firstFailure.startedAt"], title: "First failed", words: true, cell: ({ firstFailure }) =>
      html`<${Time} at=${firstFailure.startedAt} />` },
  ];
  return html`<${Section} title="Broke or fixed" total=${rows.length} anchor="effects">
    <${PlainTable} name="effects" label="Failures that it broke or fixed" columns=${columns} rows=${rows} rowKey=${({ id }) => id} />
    ${more && html`<p class="quiet">Of the latest ${counted(ROWS, "failure")} of each table that name it.</p>`}
  <//>`;
}

function effectOf({ fix, brokenBy }, sha) {
  if (fix?.sha === sha) return EFFECTS.fixed;
  const commits = brokenBy?.commits ?? [];
  if (!commits.some((commit) => commit.sha === sha)) return null;
  return commits.length === 1 ? EFFECTS.broke : EFFECTS.may;
}
