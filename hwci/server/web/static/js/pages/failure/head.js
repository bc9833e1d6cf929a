// SPDX-License-Identifier: Apache-2.0
// The head of a failure's page: what failed where, its state in one sentence, and what is known of its
// beginning and its end.

import { addressOf } from "../../address.js";
import { useAnswer } from "../../asking.js";
import { count, counted, productName } from "../../format.js";
import { html } from "../../html.js";
import { knownBadge, labelBadge } from "../../parts/values/labels.js";
import { Outside } from "../../parts/values/outside.js";
import { BoxLink, TestLink } from "../../parts/values/past.js";
import { Suspects } from "../../parts/values/suspects.js";
import { Message, Sha, Time } from "../../parts/values/values.js";
import { Review } from "./review.js";
import { firstFailing } from "./story.js";
import { classText } from "../../parts/values/classes.js";
import { RunLink, classBadge, verdict } from "../../parts/values/words.js";
import { MAY_HAVE_BROKEN, NO_PASS_BETWEEN } from "../../words.js";

const RUNS = 100; // the most that the API gives at once: a run has few attempts

/**
 * The head. `answer`: that of the page, which a review replaces; `me`: the reader; `explained`: what the API explains of it,
 * null while it loads.
 */
export function Head({ evidence, answer, orgId, me, reviewer, explained }) {
  const { failure, resolved } = evidence;
  return html`
    <header class="failure-head">
      <h1><${TestLink} plain test=${failure} orgId=${orgId} />
        ${" "}<span class="on">on <${BoxLink} plain boxKey=${failure.boxKey} orgId=${orgId} /></span></h1>
      <p class="verdict-line">${resolved ? classBadge(resolved.class) : labelBadge(failure.label)} <span>${sentence(evidence)}</span></p>
      ${failure.known && html`<p>${knownBadge(failure.known)} ${failure.known.says}</p>`}
      ${resolved?.review && html`<${Written} review=${resolved.review} /><p class="quiet">${automatically(resolved)}</p>`}
      <${Others} evidence=${evidence} orgId=${orgId} />
      ${resolved && html`<${Review} ...${{ evidence, answer, orgId, me, reviewer }} />`}
    </header>
    <dl class="facts">${facts(evidence, orgId).map(
      ([title, value]) => html`<div key=${title}><dt>${title}</dt><dd>${value}</dd></div>`,
    )}<${Board} explained=${explained} /><${CiJob} evidence=${evidence} orgId=${orgId} /></dl>
  `;
}

/** Whether its runs lost the board. Its place is kept. */
function Board({ explained }) {
  const none = html`<span class="quiet">${explained ? "no sign that it was lost" : "\u00a0"}</span>`;
  return html`<div><dt>Board</dt><dd>${explained?.lostBoard ?? none}</dd></div>`;
}

/** The CI job of the first failing run, if its report has it. It comes last, and its place is kept. */
function CiJob({ evidence: { failure, resolved, timeline }, orgId }) {
  const failing = timeline.flatMap((commit) => (commit.this ? commit.runs : [])).find((run) => run.outcome === "fail");
  const first = resolved?.firstFailure ?? failing;
  const { repoKey, boxKey } = failure;
  const query = { repoKey, boxKey, ciRun: first?.ciRun ?? first?.runId, limit: RUNS };
  const { data } = useAnswer(first ? `/api/orgs/${orgId}/runs` : null, query);
  const job = data?.items.find(({ id }) => id === first.runRecordId)?.ciUrl;
  if (!first) return null;
  const none = html`<span class="quiet">${data ? "not reported" : "\u00a0"}</span>`;
  const told = job ? html`<${Outside} href=${job}>page of the job<//>` : none;
  const log = failing?.logUrl && html`<${Outside} href=${failing.logUrl}>log of the test<//>`;
  return html`<div><dt>CI job and log</dt><dd>${log}${log && ", "}${told}</dd></div>`;
}

function sentence(evidence) {
  const { failure, resolved } = evidence;
  if (failure.label === "flake") return flake(evidence);
  if (!resolved) return pending(evidence);
  const { review } = resolved;
  if (review) {
    const dismissed = `${resolved.reasonText}: not counted as a real firmware bug`;
    const done = review.action === "confirm" ? "Confirmed as a real firmware bug" : dismissed;
    return html`${done}, by ${review.by.name}, <${Time} at=${review.at} />.`;
  }
  if (resolved.class === "real_fw_bug") return "Resolved, and a real firmware bug: every check passed.";
  if (resolved.class === "ambiguous") return `Resolved, but ambiguous: the firmware, the bench or the harness. ${resolved.reasonText}.`;
  return `Resolved by a bench or harness change. ${resolved.reasonText}.`;
}

function flake({ failure, timeline }) {
  const own = timeline.find((commit) => commit.this);
  const ran = own ? `; it ran there in ${counted(own.runsTotal, "run")}` : "";
  return `A flake: the test also passed on the same commit and on ${failure.boxKey}${ran}.`;
}

function pending({ failure, timeline }) {
  const first = timeline.find((commit) => commit.sha === firstFailing(timeline, failure));
  const since = first?.runs.find((run) => run.outcome === "fail")?.startedAt ?? failure.firstStartedAt;
  return html`Still failing, since <${Time} at=${since} />. A pass on a later commit of ${failure.branch} on
    ${" "}${failure.boxKey} will resolve it; a pass on the same commit will make it a flake.`;
}

/** What the reviewer wrote. */
function Written({ review: { note, issue } }) {
  return html`${note && html`<p class="note">${note}</p>`}
    ${issue && html`<p>Issue: <${Outside} href=${issue}>${issue}<//></p>`}`;
}

function automatically({ automatic }) {
  return `Without the review it would be: ${classText(automatic.class)}${automatic.reasonText ? ` (${automatic.reasonText})` : ""}.`;
}

/** A link to the first failure of the group, if this is another one. */
function Others({ evidence, orgId }) {
  const { failure, resolved } = evidence;
  if (!failure.groupId || failure.groupId === failure.id) return null;
  const first = html`<a href=${addressOf("failure", { orgId, failureId: failure.groupId })}>the first of them</a>`;
  const commits = resolved ? counted(resolved.failingCommits, "commit") : "several commits";
  return html`<p class="quiet">The test failed on ${commits} ${NO_PASS_BETWEEN}; they count as one failure. See ${first}.</p>`;
}

function facts({ failure, resolved, timeline, brokenBy: range }, orgId) {
  const known = [
    ["Product", productName(failure)],
    ["Branch", html`<code>${failure.branch}</code>`],
    ["Commit", html`<${Sha} sha=${failure.sha} repo=${failure.repoKey} />`],
    ["Harness verdict", verdict(failure.verdict)],
    ...said(timeline),
  ];
  const broken = [resolved ? "Broken by" : MAY_HAVE_BROKEN, html`<${Suspects} range=${range} repo=${failure.repoKey} />`];
  if (!resolved) {
    const at = html`<${Time} at=${failure.firstStartedAt} />`;
    const failed = [...known, ["First failed", at], ["Failing runs of this commit", count(failure.items)]];
    return failure.label === "pending" ? [...failed, broken] : failed;
  }
  return [
    ...known,
    [resolved.review ? "Reviewed by" : "Status", resolved.status],
    ["First failure", firstFailure(resolved.firstFailure, orgId)],
    ["Failing commits", count(resolved.failingCommits)],
    broken,
    ["Fixed by", fix(resolved.fix, failure.repoKey)],
  ];
}

/** What the harness wrote in the first failing run of this commit. */
function said(timeline) {
  const runs = timeline.filter((commit) => commit.this).flatMap((commit) => commit.runs);
  const text = runs.find((run) => run.message)?.message;
  return text ? [["Message", html`<${Message} text=${text} />`]] : [];
}

function firstFailure(first, orgId) {
  return html`<${Time} at=${first.startedAt} />
    <br /><${RunLink} run=${first} orgId=${orgId} /> <span class="quiet">${first.workflow}</span>`;
}

function fix(found, repo) {
  if (!found) return html`<span class="quiet">no later commit passed</span>`;
  return html`<${Sha} sha=${found.sha} repo=${repo} /> passed <${Time} at=${found.startedAt} />`;
}
