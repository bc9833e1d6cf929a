// SPDX-License-Identifier: Apache-2.0
// One failure with all that its answer rests on (contract, "CI metrics"): what it is now, the commits
// around it, and the checks one by one; of one that is not resolved what all runs of its test say. The API decides
// everything that is shown.

import { change } from "../address.js";
import { useAnswer } from "../asking.js";
import { html, useCallback, useMemo, useState } from "../html.js";
import { Missing } from "../parts/notices/missing.js";
import { Failed, Waiting } from "../parts/notices/notice.js";
import { useProducts } from "../parts/values/links.js";
import { Back } from "../parts/frame/back.js";
import { isAdmin } from "../parts/frame/roles.js";
import { useTitle } from "../parts/frame/title.js";
import { TurnOn } from "../parts/notices/turn_on.js";
import { ExactTimes } from "../parts/values/values.js";
import { Branch } from "./failure/branch.js";
import { Checks } from "./failure/checks.js";
import { Head } from "./failure/head.js";
import { storyOf } from "./failure/story.js";
import { WhatIf } from "./failure/what_if.js";
import { WholeTest } from "./failure/whole_test.js";

const CLOSED = "none";

/** The page of one failure. */
export function Failure({ address, orgId, organization, me }) {
  const { failureId } = address.params;
  return html`<${FailurePage} key=${failureId} ...${{ address, orgId, organization, me, failureId }} />`;
}

function FailurePage({ address, orgId, organization, me, failureId }) {
  const path = `/api/orgs/${orgId}/ci-failures/${encodeURIComponent(failureId)}`;
  const answer = useAnswer(path);
  useProducts(orgId, organization?.ciMetricsEnabled);
  const failure = answer.data?.failure;
  const isThere = answer.data !== null && organization !== undefined; // with its role, which has buttons above the rest
  useTitle(failure ? `${failure.testId} on ${failure.boxKey}` : "Failure");
  return html`
    <div class="failure-top">
      <${Back} orgId=${orgId} />
      <${ExactTimes} />
    </div>
    ${answer.error && html`<${Fault} ...${{ answer, failureId, organization }} />`}
    ${isThere && html`<${Evidence} ...${{ answer, address, orgId, organization, me }} />`}
    ${!isThere && !answer.error && html`<${Waiting} />`}
  `;
}

/** The fault of a request. A failure that was shown before stays; it is missing only if it was never there. */
function Fault({ answer, failureId, organization }) {
  const { data, error, again } = answer;
  if (organization?.ciMetricsEnabled === false) return html`<h1>Failure</h1><${TurnOn} orgId=${organization.id} />`;
  if (data || error.status !== 404) return html`<${Failed} error=${error} again=${again} />`;
  return html`<h1>No such failure</h1>
    <${Missing} sought=${failureId} organizations=${organization ? [organization] : []}>
      no failure has this id, or it is not yours to see. Reports that were replaced or have expired take their failures
      with them.
    <//>`;
}

function Evidence({ answer, address, orgId, organization, me }) {
  const evidence = answer.data;
  const { failure, resolved } = evidence;
  const story = useMemo(() => storyOf(evidence), [evidence]);
  const [sought, setSought] = useState(null);
  const named = address.query.get("commit");
  const asked = named ?? failure.sha;
  const unknown = named !== CLOSED && !story.some(({ sha }) => sha === named) ? named : null;
  const open = useCallback((sha) => change({ commit: sha ?? CLOSED }, { replace: true }), []);
  const show = useCallback((sha) => {
    open(sha);
    setSought({ sha });
  }, []);
  // Another one after a review. It is requested after the page, which does not wait for it.
  const path = `/api/orgs/${orgId}/ci-analysis/failures/${encodeURIComponent(failure.id)}`;
  const explained = useAnswer(path, {}, `${resolved?.class} ${resolved?.review?.at}`);
  const shared = { evidence, story, orgId, show };
  return html`
    <${Head} ...${{ ...shared, answer, me }} explained=${explained.data} reviewer=${isAdmin(organization)} />
    <div class="evidence">
      <${Branch} ...${shared} ...${{ opened: asked, unknown, open, sought }} all=${address.query.get("commits") === "all"} />
      ${resolved
        ? html`<${Checks} ...${shared} open=${address.query.get("checks") === "open"} />`
        : html`<${WholeTest} ...${{ failure, range: evidence.brokenBy, orgId }} />`}
      ${resolved && html`<${WhatIf} explained=${explained.loading ? null : explained.data} />`}
    </div>
  `;
}
