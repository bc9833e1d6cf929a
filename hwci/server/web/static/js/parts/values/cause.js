// SPDX-License-Identifier: Apache-2.0
// Failures of one cause as one line: which tests on how many boxes, what broke them and what fixed them.

import { addressOf } from "../../address.js";
import { counted } from "../../format.js";
import { html } from "../../html.js";
import { LongName, Sha, Subject, Time } from "./values.js";
import { classBadge, verdict } from "./words.js";

const NAMED = 2; // tests of a cause; a line that names more is not read at a glance

/** "boot on bench-1", or "boot, shell and 3 more tests on 2 boxes". */
export function causeName({ failures, testsTotal, boxesTotal }) {
  const tests = [...new Set(failures.map(({ testId }) => testId))].sort().slice(0, NAMED);
  const others = testsTotal - tests.length;
  const boxes = boxesTotal === 1 ? failures[0].boxKey : counted(boxesTotal, "box", "boxes");
  return `${tests.join(", ")}${others > 0 ? ` and ${counted(others, "more test")}` : ""} on ${boxes}`;
}

/** What broke the failures, since when, and the fix. */
export function CauseFacts({ cause: { failures } }) {
  const [{ repoKey: repo, branch, brokenBy, firstFailure, fix }] = failures;
  const suspects = brokenBy?.commits ?? [];
  const first = suspects[0];
  return html`<span class="under">${branch} · failed <${Time} at=${firstFailure.startedAt} />${" "}
    at <${Sha} sha=${firstFailure.sha} repo=${repo} /></span>
    <span class="under">Broken by ${suspects.length === 0 ? "an unknown commit"
      : suspects.length === 1 ? html`<${Sha} sha=${first.sha} repo=${repo} /> <${Subject} text=${first.subject} repo=${repo} />`
      : html`one of ${counted(suspects.length, "commit")}, from <${Sha} sha=${brokenBy.from} repo=${repo} /> to${" "}
        <${Sha} sha=${brokenBy.to} repo=${repo} />`}</span>
    ${fix && html`<span class="under">Fixed by <${Sha} sha=${fix.sha} repo=${repo} /></span>`}`;
}

/** Each failure of a cause, with a link to its evidence. */
export function CauseFailures({ orgId, cause: { failures, failuresTotal } }) {
  return html`<ul class="commits">${failures.map((one) => html`<li key=${one.id}>
      <a href=${addressOf("failure", { orgId, failureId: one.id })}><${LongName} name=${one.testId} /></a>
      ${" "}<span class="quiet">${one.boxKey}</span> ${verdict(one.verdict)} ${classBadge(one.class)}
      ${one.reasonText && html`<span class="under">${one.reasonText}</span>`}
      ${one.review && html`<span class="under">${one.review.action === "confirm" ? "Confirmed" : "Dismissed"} by ${one.status}${
        one.review.note && `: ${one.review.note}`}</span>`}
    </li>`)}</ul>
    ${failuresTotal > failures.length && html`<p class="quiet">and ${counted(failuresTotal - failures.length, "more failure")}</p>`}`;
}
