// SPDX-License-Identifier: Apache-2.0
// The merges that were announced of a commit: checked by which run, or why by none, and the runs that would.

import { useAnswer } from "../../asking.js";
import { html } from "../../html.js";
import { Failed } from "../../parts/notices/notice.js";
import { Section } from "../../parts/section.js";
import { BoxLink } from "../../parts/values/past.js";
import { Badge, Time } from "../../parts/values/values.js";
import { RunLink } from "../../parts/values/words.js";
import { Plan } from "../metrics/plan.js";

/** The section; nothing if no merge of it was announced in the period. */
export function Merges({ orgId, scope, sha }) {
  const { data, error, again } = useAnswer(`/api/orgs/${orgId}/ci-analysis/merges`, { ...scope, sha });
  if (error) return error.status === 404 ? null : html`<${Failed} error=${error} again=${again} />`;
  if (!data?.total) return null;
  return html`<${Section} title="Merged" total=${data.total} anchor="merged">
    <ul class="plan">${data.items.map((merge) => html`<li key=${merge.suite}><${Merge} ...${{ merge, orgId, scope }} /></li>`)}</ul>
  <//>`;
}

function Merge({ merge: { suite, repoKey, sha, branch, mergedAt, checked, run, causeText }, orgId, scope }) {
  const product = suite === null ? {} : { repoKey, suite };
  const first = run && html`<${RunLink} ...${{ run, orgId }} /> on <${BoxLink} plain boxKey=${run.boxKey} orgId=${orgId} />`;
  return html`<p>${suite ?? "Unassigned"} to <code>${branch}</code>, <${Time} at=${mergedAt} />: ${checked
    ? html`<${Badge} kind="good">checked<//> first by ${first}`
    : html`<${Badge} kind="warn">not checked<//> ${causeText}${first && html` (${first})`}`}</p>
    ${!checked && html`<${Plan} orgId=${orgId} scope=${{ ...scope, ...product, sha }} turn=${0} />`}`;
}
