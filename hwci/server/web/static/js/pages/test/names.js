// SPDX-License-Identifier: Apache-2.0
// The other name under which a test may have run (ADR 0083). It is a guess from reports, so its figures are separate.

import { counted } from "../../format.js";
import { html } from "../../html.js";
import { TestLink } from "../../parts/values/past.js";
import { Sha, Time } from "../../parts/values/values.js";

/** The earlier and the later name; nothing if reports show neither. */
export function Names({ test, orgId }) {
  const { before, since } = test;
  return html`
    ${before && html`<p>May have been called <${Other} ...${{ other: before, test, orgId }} /> until${" "}
      <${Taken} other=${before} repo=${test.repoKey} /></p>`}
    ${since && html`<p>May be called <${Other} ...${{ other: since, test, orgId }} /> since${" "}
      <${Taken} other=${since} repo=${test.repoKey} /></p>`}
  `;
}

function Other({ other, test, orgId }) {
  return html`<${TestLink} test=${{ ...test, testId: other.testId }} orgId=${orgId} />`;
}

/** When one name replaced the other, on how many branches and boxes, and the counts of the other name. */
function Taken({ other: { at, sha, places, runs, failed }, repo }) {
  return html`<${Time} at=${at} />, commit <${Sha} sha=${sha} repo=${repo} />.
    <span class="under">One name ended and the other began with the next run${places > 1 && `, in ${places} places (a branch on
      a box)`}. The other name has ${counted(runs, "run")} in this period,
      ${" "}${counted(failed, "failed", "failed")}; they are not counted here.</span>`;
}
