// SPDX-License-Identifier: Apache-2.0
// Failures of one cause as one line: which tests on how many boxes, what broke them and what fixed them.

import { addressOf } from "../../address.js";
import { count, counted } from "../../format.js";
import { html } from "../../html.js";
import { LongName, Sha, Subject, Time } from "./values.js";
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

/** How many failures they are, since when, what broke them, and the fix. */
export function CauseFacts({ cause: { failures, failuresTotal } }) {
  const [{ repoKey: repo, branch, brokenBy, firstFailure, fix }] = failures;
  const isBreaking = brokenBy?.commits.length === 1 && brokenBy.to === firstFailure.sha; // it is named beside
  return html`<span class="under">${branch} · ${counted(failuresTotal, "failure")},${failuresTotal > 1 && " the first"}${" "}
    <${Time} at=${firstFailure.startedAt} />${!isBreaking && html` at <${Sha} sha=${firstFailure.sha} repo=${repo} />`} · broken by${" "}
    <${Breaking} range=${brokenBy} repo=${repo} />${fix && html` · fixed by <${Sha} sha=${fix.sha} repo=${repo} />`}</span>`;
}

function Breaking({ range, repo }) {
  const commits = range?.commits ?? [];
  if (commits.length === 0) return "an unknown commit";
  const [{ sha, subject }] = commits;
  if (commits.length === 1) return html`<${Sha} sha=${sha} repo=${repo} /> <${Subject} text=${subject} repo=${repo} />`;
  return html`one of ${counted(commits.length, "commit")}, from <${Sha} sha=${range.from} repo=${repo} /> to${" "}
    <${Sha} sha=${range.to} repo=${repo} />`;
}

/** Each failure of a cause, with a link to its evidence. A reason of all stands above them; the row has their class. */
export function CauseFailures({ orgId, cause: { failures, failuresTotal } }) {
  const [{ reasonText: reason }] = failures;
  const [oneClass, oneReason] = ["class", "reasonText"].map((name) => failures.every((one) => one[name] === failures[0][name]));
  return html`${oneReason && reason && html`<p class="under">${reason}</p>`}
    <ul class="commits">${failures.map((one) => html`<li key=${one.id}>
      <a href=${addressOf("failure", { orgId, failureId: one.id })}><${LongName} name=${one.testId} /></a>
      ${" "}<span class="quiet">${one.boxKey} · harness verdict</span> ${verdict(one.verdict)} ${!oneClass && classBadge(one.class)}
      ${!oneReason && one.reasonText && html`<span class="under">${one.reasonText}</span>`}
      ${one.review && html`<span class="under">${one.review.action === "confirm" ? "Confirmed" : "Dismissed"} by ${one.status}${
        one.review.note && `: ${one.review.note}`}</span>`}
    </li>`)}</ul>
    ${failuresTotal > failures.length && html`<p class="quiet">and ${count(failuresTotal - failures.length)} more</p>`}`;
}
