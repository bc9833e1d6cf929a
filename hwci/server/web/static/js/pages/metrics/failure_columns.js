// SPDX-License-Identifier: Apache-2.0
// Columns that the tables of resolved failures share, be a row a failure or a cause.

import { html } from "../../html.js";
import { Suspects } from "../../parts/values/suspects.js";
import { Sha, Time } from "../../parts/values/values.js";
import { verdict } from "../../parts/values/words.js";

/** What broke a test, and what fixed it. */
export const endColumns = [
  { key: "brokenBy", title: "Broken by", cell: ({ repoKey, brokenBy }) => html`<${Suspects} range=${brokenBy} repo=${repoKey} />` },
  { key: "fix", title: "Fixed by", cell: fixedBy },
];

/** The verdict of the harness. */
export const verdictColumn = {
  ...{ key: "verdict", title: "Harness verdict", sort: "verdict" },
  cell: (row) => verdict(row.verdict),
  of: (row) => row.verdict,
};

function fixedBy({ repoKey: repo, fix }) {
  if (!fix) return html`<span class="quiet">unknown</span>`;
  return html`<${Sha} sha=${fix.sha} repo=${repo} /> <span class="under"><${Time} at=${fix.startedAt} /></span>`;
}
