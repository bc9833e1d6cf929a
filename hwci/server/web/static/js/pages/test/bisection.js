// SPDX-License-Identifier: Apache-2.0
// Which commit broke a test, and the run that tells most about it, as commands to paste (ADR 0011). The API keeps
// nothing of a bisection: it weighs the runs that were reported, and proposes the next one. Nothing runs here. A commit has
// the chance that the top of the page has for it; the likeliest stand first here.

import { useAnswer } from "../../asking.js";
import { chanceText, count, counted, duration } from "../../format.js";
import { html } from "../../html.js";
import { Copyable } from "../../parts/form/copyable.js";
import { Section } from "../../parts/section.js";
import { BoxLink } from "../../parts/values/past.js";
import { PlainTable } from "../../parts/table/table.js";
import { Sha } from "../../parts/values/values.js";
import { NO_BOX_ANSWERS } from "../../words.js";

const SHOWN = 5; // commits

/** The section; nothing while it is not known. */
export function Bisection({ orgId, query }) {
  const { data } = useAnswer(`/api/orgs/${orgId}/ci-analysis/bisection`, query);
  if (!data) return null;
  return html`<${Section} title="Bisection">
    ${data.found ? html`<${Found} ...${data} orgId=${orgId} />` : html`<p class="quiet">${data.missingText}. ${data.toDo}:
      ${" "}<code>hwci bisect start</code></p>`}
  <//>`;
}

function Found({ found: { says, commits, bracket, nextRuns, toFillIn, then }, repoKey, orgId }) {
  const [first, last] = [bracket.first, bracket.last].map((end) => commits.findIndex(({ sha }) => sha === end));
  const within = commits.slice(first, last + 1).sort((a, b) => b.chance - a.chance);
  return html`
    <p>${says}</p>
    ${within.length > 1 && html`<${PlainTable} name="bisected" label="Commits that may have broken it" all=${within}
      rows=${within.slice(0, SHOWN)} rowKey=${({ sha }) => sha} columns=${columns(repoKey)} />`}
    ${within.length > SHOWN && html`<p class="quiet">and ${counted(within.length - SHOWN, "commit")} less likely</p>`}
    ${nextRuns.map((run) => html`<${Next} key=${run.boxKey} run=${run} repoKey=${repoKey} orgId=${orgId} />`)}
    ${nextRuns.length > 0 && html`<p class="quiet">In a clone on that box. ${toFillIn}. Its report counts at once. Then:</p>
      <${Copyable} label="Command for the run after it" text=${then} />`}
    ${nextRuns.length === 0 && within.length > 1 && html`<p class="quiet">${NO_BOX_ANSWERS}:
      mend one first.</p>`}
  `;
}

function columns(repo) {
  return [
    { key: "commit", title: "Commit", cell: ({ sha }) => html`<${Sha} sha=${sha} repo=${repo} />` },
    { key: "subject", title: "Subject", name: true, cell: ({ subject }) => subject },
    {
      key: "failed",
      fields: ["failed", "runs"],
      title: "Runs that failed",
      numeric: true,
      cell: ({ failed, runs }) => `${count(failed)} of ${count(runs)}`,
    },
    { key: "chance", title: "Chance", numeric: true, cell: ({ chance }) => chanceText(chance) },
  ];
}

/** The run that tells most for each minute of a board. */
function Next({ run: { sha, subject, boxKey, boardSeconds, runsSeen, command }, repoKey, orgId }) {
  return html`<p>The run that tells most: <${Sha} sha=${sha} repo=${repoKey} /> ${subject}
      ${" "}on <${BoxLink} boxKey=${boxKey} orgId=${orgId} />, about ${duration(boardSeconds)}
      ${" "}<span class="quiet">(the median of ${counted(runsSeen, "run")})</span></p>
    <${Copyable} label="Command for the next run" text=${command} />`;
}
