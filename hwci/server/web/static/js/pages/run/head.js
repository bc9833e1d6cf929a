// SPDX-License-Identifier: Apache-2.0
// The head of a run's page: its state, and which run it is.

import { addressOf } from "../../address.js";
import { count, counted } from "../../format.js";
import { html } from "../../html.js";
import { Outside } from "../../parts/values/outside.js";
import { BoxLink } from "../../parts/values/past.js";
import { Sha, Time } from "../../parts/values/values.js";
import { Duration, Status } from "../runs/words.js";
import { ONLY_KNOWN, TOOK_MORE } from "../../words.js";

const COVERED_SHOWN = 20;

/** The head. */
export function Head({ run, orgId }) {
  return html`
    <p class="verdict-line"><${Status} run=${run} /> ${onlyKnown(run) && html`<strong>${ONLY_KNOWN}</strong> `}
      <span>${sentence(run)}</span></p>
    <dl class="facts">${facts(run, orgId).map(([title, value]) => html`<div key=${title}><dt>${title}</dt><dd>${value}</dd></div>`)}</dl>
    <${Covered} shas=${run.coversShas.filter((sha) => sha !== run.sha)} repo=${run.repoKey} />
  `;
}

/** Whether tests failed, and each failure is known. */
function onlyKnown({ tests, knownFailures }) {
  return tests.failed > 0 && tests.failed === knownFailures;
}

function sentence(run) {
  const { status, helloOk, tests, ciUrl } = run;
  if (status === "running" && tests.total === 0) return "The box has sent no test yet; the report will have them.";
  if (status === "running") return `${counted(tests.total, "test")} began so far: ${outcomes(tests)}.`;
  if (status === "lost") {
    return `Its box sent nothing for ten minutes, and no report arrived. What it sent before is kept for
      seven days.`;
  }
  if (!helloOk) {
    return html`It never reached the hardware; the log of its <${Outside} href=${ciUrl}>CI job<//> may say why. This run does
      not count for firmware.`;
  }
  if (tests.total === 0) return "It reached the hardware, but no test was recorded.";
  return `It reached the hardware; ${outcomes(tests, run.knownFailures)}.`;
}

function outcomes({ passed, failed, retried }, known = 0) {
  const ofThese = known > 0 ? ` (${count(known)} known)` : "";
  return `${counted(passed, "test")} passed, ${count(failed)} failed${ofThese}, ${count(retried)} ${TOOK_MORE}`;
}

function facts(run, orgId) {
  return [
    ["Product", html`${run.suite} <span class="under">${run.repoKey}</span>`],
    ["Branch", html`<code>${run.branch}</code>`],
    ["Commit", html`<${Sha} sha=${run.sha} repo=${run.repoKey} />`],
    ["Box", html`<${BoxLink} boxKey=${run.boxKey} orgId=${orgId} />`],
    ["Workflow", run.workflow],
    ["Run id", html`<${Outside} href=${run.ciUrl}>${run.runId}<//> <span class="under">attempt ${count(run.runAttempt)}</span>`],
    ...(run.ciRun === null ? [] : [["CI number", html`<${Outside} href=${run.ciUrl}>${run.ciRun}<//>`]]),
    ...(run.rerunOf === null ? [] : [["Rerun of", rerunOf(run.rerunOf, orgId)]]),
    ["Trigger", run.trigger],
    ["Hardware", hello(run)],
    ["Started", html`<${Time} at=${run.startedAt} />`],
    ["Ended", run.endedAt ? html`<${Time} at=${run.endedAt} />` : unknown("not yet")],
    ["Duration", html`<${Duration} run=${run} />`],
    ["Conclusion", run.conclusion ?? unknown("not reported yet")],
  ];
}

/** The run that this one repeats: a link to its page, if it was reported. */
function rerunOf({ runId, runRecordId }, orgId) {
  if (runRecordId === null) return html`${runId} ${unknown("not reported here")}`;
  return html`<a href=${addressOf("run", { orgId, runId: runRecordId })}>${runId}</a>`;
}

function hello({ helloOk }) {
  if (helloOk === null) return unknown("not reported yet");
  return helloOk ? "reached" : "never reached";
}

function unknown(text) {
  return html`<span class="quiet">${text}</span>`;
}

function Covered({ shas, repo }) {
  if (shas.length === 0) return null;
  const more = shas.length - COVERED_SHOWN;
  return html`<p class="covered">It also covers ${counted(shas.length, "other commit")}:
    ${shas.slice(0, COVERED_SHOWN).map((sha) => html` <${Sha} key=${sha} sha=${sha} repo=${repo} />`)}
    ${more > 0 && ` and ${count(more)} more`}</p>`;
}
