// SPDX-License-Identifier: Apache-2.0
// Failures of one cause: as one line (which tests on how many boxes, what broke them and what fixed them), and unfolded
// to what a person decides by: what the harness wrote, which files the commits changed, and each failure.

import { addressOf } from "../../address.js";
import { count, counted, sentence } from "../../format.js";
import { html } from "../../html.js";
import { MADE } from "../reviews/review.js";
import { FilesInShort } from "./files.js";
import { BoxLink, HistoryLink } from "./past.js";
import { Suspects } from "./suspects.js";
import { LongName, Message, Sha, Subject, Time } from "./values.js";
import { classBadge, verdict } from "./words.js";

const NAMED = 2; // tests of a cause; a line that names more is not read at a glance

/** "boot on bench-1", or "boot, shell and 3 more tests on 2 boxes". The name of one more test is as short as "1 more test". */
export function causeName({ failures, testsTotal, boxesTotal }) {
  const named = testsTotal === NAMED + 1 ? testsTotal : NAMED;
  const tests = [...new Set(failures.map(({ testId }) => testId))].sort().slice(0, named);
  const others = testsTotal - tests.length;
  const boxes = boxesTotal === 1 ? failures[0].boxKey : counted(boxesTotal, "box", "boxes");
  return `${tests.join(", ")}${others > 0 ? ` and ${counted(others, "more test")}` : ""} on ${boxes}`;
}

/** How many failures they are, and since when; and what broke them, and the fix, unless it is unfolded (`open`). */
export function CauseFacts({ cause: { failures, failuresTotal }, open }) {
  const [{ branch, firstFailure }] = failures;
  return html`<span class="under">${branch} · ${counted(failuresTotal, "failure")},${failuresTotal > 1 && " the first"}${" "}
    <${Time} at=${firstFailure.startedAt} />${!open && html`<${Commits} ...${failures[0]} />`}</span>`;
}

function Commits({ repoKey: repo, brokenBy, firstFailure, fix }) {
  const isBreaking = brokenBy?.commits.length === 1 && brokenBy.to === firstFailure.sha; // it is named beside
  return html`${!isBreaking && html` at <${Sha} sha=${firstFailure.sha} repo=${repo} />`} · broken by${" "}
    <${Breaking} range=${brokenBy} repo=${repo} />${fix && html` · fixed by <${Sha} sha=${fix.sha} repo=${repo} />`}`;
}

function Breaking({ range, repo }) {
  const commits = range?.commits ?? [];
  if (commits.length === 0) return "an unknown commit";
  const [{ sha, subject }] = commits;
  if (commits.length === 1) return html`<${Sha} sha=${sha} repo=${repo} /> <${Subject} text=${subject} repo=${repo} />`;
  return html`one of ${counted(commits.length, "commit")}, from <${Sha} sha=${range.from} repo=${repo} /> to${" "}
    <${Sha} sha=${range.to} repo=${repo} />`;
}

/**
 * A cause unfolded: what was reported of it, and each failure with a link to its evidence. What decided all of them stands
 * above them; the row has their class.
 */
export function CauseFailures({ orgId, cause }) {
  const { failures, failuresTotal } = cause;
  const [oneClass, oneReason] = [(one) => one.class, decidedBy].map((of) => failures.every((one) => of(one) === of(failures[0])));
  return html`${oneReason && html`<p class="under">${decidedBy(failures[0])}</p>`}
    <dl class="facts of-cause">${reported(cause).map(
      ([title, value]) => html`<div key=${title}><dt>${title}</dt><dd>${value}</dd></div>`,
    )}</dl>
    <ul class="commits">${failures.map((one) => html`<li key=${one.id}>
      <a href=${addressOf("failure", { orgId, failureId: one.id })}><${LongName} name=${one.testId} /></a>
      ${" "}<span class="quiet"><${BoxLink} plain boxKey=${one.boxKey} orgId=${orgId} /> <${HistoryLink} test=${one} orgId=${orgId} />
      ${" "}· harness verdict</span> ${verdict(one.verdict)} ${!oneClass && classBadge(one.class)}
      ${!oneReason && html`<span class="under">${decidedBy(one)}</span>`}
    </li>`)}</ul>
    ${failuresTotal > failures.length && html`<p class="quiet">and ${count(failuresTotal - failures.length)} more</p>`}`;
}

/** The review of a failure with its note, or else the reason of the checks. */
function decidedBy({ review, status, reasonText }) {
  if (!review) return reasonText;
  return `${sentence(MADE[review.action])} by ${status}${review.note ? `: ${review.note}` : ""}`;
}

/** The first line of the message, and the commits, each with its files in short. */
function reported({ failures: [{ repoKey: repo, brokenBy, firstFailure, fix }], failuresTotal, message, commits }) {
  const about = (sha) => {
    const commit = commits.find((one) => one.sha === sha);
    return commit && html`<${FilesInShort} commit=${commit} repo=${repo} />`;
  };
  const named = (sha) => {
    const commit = commits.find((one) => one.sha === sha);
    return html`<${Sha} sha=${sha} repo=${repo} /> ${commit
      ? html`<${Subject} text=${commit.subject} repo=${repo} />${about(sha)}`
      : html`<span class="quiet">no run reported its subject and files</span>`}`;
  };
  const isAmongThem = brokenBy?.commits.some(({ sha }) => sha === firstFailure.sha);
  return [
    ["Message", message ? html`<${Said} message=${message} total=${failuresTotal} />` : html`<span class="quiet">not reported</span>`],
    ...(isAmongThem ? [] : [["First failed on", named(firstFailure.sha)]]),
    ["Broken by", html`<${Suspects} range=${brokenBy} repo=${repo} about=${about} />`],
    ["Fixed by", fix ? named(fix.sha) : html`<span class="quiet">no later commit passed</span>`],
  ];
}

function Said({ message: { line, failures }, total }) {
  const some = failures < total && html`<span class="under">in ${count(failures)} of ${counted(total, "failure")}</span>`;
  return html`<${Message} text=${line} />${some}`;
}
