// SPDX-License-Identifier: Apache-2.0
// One run with all that was reported of it (contract, "Runs and streams"), live: an event of the stream changes it in
// place; its report is asked for.

import { addressOf } from "../address.js";
import { useAnswer } from "../asking.js";
import { html, useRef } from "../html.js";
import { Live, useFollowing } from "../parts/events/live.js";
import { useProducts } from "../parts/values/links.js";
import { Missing } from "../parts/notices/missing.js";
import { Failed, Waiting } from "../parts/notices/notice.js";
import { usePaced } from "../parts/events/pace.js";
import { detailAfter, putAfter } from "../parts/events/run_events.js";
import { takenAlong } from "../parts/frame/scope.js";
import { useTitle } from "../parts/frame/title.js";
import { ExactTimes } from "../parts/values/values.js";
import { runText } from "../parts/values/words.js";
import { Changes } from "./run/changes.js";
import { Head } from "./run/head.js";
import { Siblings } from "./run/siblings.js";
import { Tests } from "./run/tests.js";

/** The page. */
export function Run({ address, orgId, organization }) {
  const { runId } = address.params;
  return html`<${RunPage} key=${runId} ...${{ address, orgId, organization, runId }} />`;
}

function RunPage({ address, orgId, organization, runId }) {
  const base = `/api/orgs/${orgId}/runs`;
  const answer = useAnswer(`${base}/${encodeURIComponent(runId)}`);
  const missing = answer.error?.status === 404 || answer.error?.status === 400;
  const following = useMoving(`${base}/stream?${new URLSearchParams({ runId })}`, answer);
  const run = answer.data;
  useProducts(orgId, organization?.ciMetricsEnabled);
  useTitle(run ? `${runText(run)} on ${run.boxKey}` : "Run");
  return html`
    <p><a href=${addressOf("runs", { orgId }, takenAlong("runs", orgId))}>All runs</a></p>
    <div class="page-head">
      <h1 class="sentence">${run ? titleOf(run) : missing ? "No such run" : "Run"}</h1>
      ${mayMove(run, missing, following) && html`<${Live} following=${following} />`}${run && html`<${ExactTimes} />`}
    </div>
    ${missing && !run && html`<${NoRun} ...${{ runId, organization }} />`}
    ${answer.error && !(missing && !run) && html`<${Failed} error=${answer.error} again=${answer.again} />`}
    ${run && html`<${Whole} ...${{ run, address, orgId, organization }} />`}
    ${!run && !answer.error && html`<${Waiting} />`}
  `;
}

/** Whether the run can still change: it has not been reported, or it may still begin. */
function mayMove(run, missing, following) {
  return run ? run.status !== "reported" : missing && following.state !== "ended";
}

function titleOf(run) {
  return html`${runText(run)} <span class="on">of ${run.workflow} on ${run.boxKey}</span>`;
}

function Whole({ run, address, orgId, organization }) {
  return html`
    <${Head} run=${run} orgId=${orgId} />
    <${Tests} ...${{ run, address, orgId, organization }} />
    <${Changes} run=${run} />
    <${Siblings} run=${run} orgId=${orgId} />
  `;
}

function NoRun({ runId, organization }) {
  return html`<${Missing} sought=${runId} organizations=${organization ? [organization] : []}>
    no run has this id, or it is not yours to see. A run that was lost is forgotten after seven days. Should this one
    begin, it appears here.
  <//>`;
}

/** Show what the stream sends about the run, and request what it does not send. */
function useMoving(path, answer) {
  const held = useRef(null);
  held.current = answer;
  const again = usePaced(answer.again, () => answer.loading);
  return useFollowing(path, {
    begun: answer.again,
    event: (one) => putAfter(held, one.type === "run.test" ? again : answer.again, (run) => detailAfter(run, one)),
  });
}
