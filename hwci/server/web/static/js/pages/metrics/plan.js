// SPDX-License-Identifier: Apache-2.0
// The runs that would check the merges that none did (ADR 0009), as commands to paste, the cheapest first. The API
// decides the runs and writes the commands.

import { useAnswer } from "../../asking.js";
import { count, counted, duration } from "../../format.js";
import { html } from "../../html.js";
import { Copyable } from "../../parts/form/copyable.js";
import { Failed, Waiting } from "../../parts/notices/notice.js";
import { Outside } from "../../parts/values/outside.js";
import { BoxLink } from "../../parts/values/past.js";
import { Sha } from "../../parts/values/values.js";

/** The plan of a period, or of one of its merges. A change of `turn` asks again. */
export function Plan({ orgId, scope, turn }) {
  const { data, error, again } = useAnswer(`/api/orgs/${orgId}/ci-analysis/merge-plan`, scope, turn);
  if (error) return html`<${Failed} error=${error} again=${again} />`;
  return data ? html`<${Found} plan=${data} orgId=${orgId} />` : html`<${Waiting} />`;
}

function Found({ plan: { uncheckedMerges, runs, boardSeconds, toFillIn, ciJobs, unplanned }, orgId }) {
  const more = runs.total - runs.items.length;
  if (uncheckedMerges === 0) return html`<p class="quiet">A run has checked it.</p>`;
  return html`${runs.total > 0 && html`<p class="quiet">${counted(runs.total, "run")}, about ${duration(boardSeconds)} of board
      time. Run each line in a clone on its box. ${toFillIn}.${ciJobs.length > 0 && html` Both are in your CI job: ${ciJobs.map(
        ({ suite, ciUrl }, at) => html`${at > 0 && ", "}<${Outside} key=${ciUrl} href=${ciUrl}>${suite}<//>`,
      )}.`}</p>`}
    <ul class="plan">${runs.items.map((run) => html`<li key=${`${run.repoKey} ${run.suite} ${run.sha}`}>
      <p><${Sha} sha=${run.sha} repo=${run.repoKey} /> ${run.subject}
        ${" "}<span class="quiet">on <${BoxLink} plain boxKey=${run.boxKey} orgId=${orgId} />, about
        ${" "}${duration(run.boardSeconds)} (the median of ${counted(run.runsSeen, "run")})</span></p>
      <${Copyable} label=${`Command for ${run.sha.slice(0, 12)}`} text=${run.command} />
    </li>`)}</ul>
    ${more > 0 && html`<p class="quiet">${count(more)} more: <code>hwci merges plan</code></p>`}
    ${unplanned.map((one) => html`<p class="quiet">${counted(one.merges, "merge")} of ${one.repoKey}${one.suite && ` · ${one.suite}`}
      ${" "}that no run here checks. ${one.missingText}.</p>`)}`;
}
