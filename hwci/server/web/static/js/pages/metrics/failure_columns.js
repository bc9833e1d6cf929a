// SPDX-License-Identifier: Apache-2.0
// Columns that several tables of the metrics page share.

import { counted } from "../../format.js";
import { html } from "../../html.js";
import { productColumn } from "../../parts/frame/scope.js";
import { Sha, Time } from "../../parts/values/values.js";
import { FailureLink, verdict } from "../../parts/values/words.js";

/** The columns by which a resolved failure is known. */
export function failureColumns(orgId, product, several) {
  return [
    {
      key: "test",
      title: "Test and box",
      sort: "testId",
      name: true,
      cell: (row) => html`<${FailureLink} failure=${row} orgId=${orgId} />`,
    },
    ...productColumn(product, several),
    {
      key: "first",
      title: "First failure",
      fields: ["firstFailure", "failingCommits", "lastFailingSha"],
      sort: "startedAt",
      own: "down",
      cell: firstFailure,
    },
  ];
}

/** The verdict of the harness. */
export const verdictColumn = { key: "verdict", title: "Harness verdict", sort: "verdict", cell: (row) => verdict(row.verdict) };

function firstFailure(row) {
  const { repoKey: repo, failingCommits, lastFailingSha } = row;
  return html`<${Time} at=${row.firstFailure.startedAt} />
    <span class="under"><${Sha} sha=${row.firstFailure.sha} repo=${repo} /></span>
    ${failingCommits > 1 &&
      html`<span class="under">${counted(failingCommits, "commit")}, to <${Sha} sha=${lastFailingSha} repo=${repo} /></span>`}`;
}
