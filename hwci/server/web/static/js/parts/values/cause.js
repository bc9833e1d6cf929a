// SPDX-License-Identifier: Apache-2.0
// Failures of one cause: as one line (since when, what broke them and what fixed them), and unfolded to what a person
// decides by: what the harness wrote, which files the commits changed, and each failure.

import { addressOf } from "../../address.js";
import { count, counted, sentence } from "../../format.js";
import { html } from "../../html.js";
import { MADE, withNote } from "../reviews/review.js";
import { FilesInShort } from "./files.js";
import { Outside } from "./outside.js";
import { BoxLink, HistoryLink } from "./past.js";
import { Suspects } from "./suspects.js";
import { LongName, Message, Sha, Subject, Time } from "./values.js";
import { classBadge, verdict } from "./words.js";

/** How many failures they are, and since when; and what broke them, and the fix, unless it is unfolded (`open`). */
export function CauseFacts({ cause: { failures, failuresTotal }, open }) {
  const [{ branch, firstFailure }] = failures;
  return html`<span class="under">${counted(failuresTotal, "failure")} on ${branch},${failuresTotal > 1 && " the first"}${" "}
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

/** A cause unfolded: each failure with a link to its evidence, and the commits. The row has what decided it. */
export function CauseFailures({ orgId, cause }) {
  const rows = [[cause.failuresTotal > 1 ? "Failures" : "Failure", html`<${Failures} ...${{ orgId, cause }} />`], ...commitsOf(cause)];
  return html`<dl class="facts of-cause">${rows.map(
    ([title, value]) => html`<div key=${title}><dt>${title}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
}

/** Each failure below what the harness wrote of it; what all have in common is said once, below them. */
function Failures({ orgId, cause }) {
  const { failures, failuresTotal } = cause;
  const [first] = failures;
  const isOne = (of) => failures.every((one) => of(one) === of(first));
  const [oneClass, oneBox, oneVerdict] = [isOne((one) => one.class), isOne((one) => one.boxKey), isOne((one) => one.verdict)];
  const box = (one) => html`<${BoxLink} plain boxKey=${one.boxKey} orgId=${orgId} />`;
  const blamed = (one) => html`harness verdict ${verdict(one.verdict)}`;
  const each = (one) => html`<li key=${one.id}>
    <a href=${addressOf("failure", { orgId, failureId: one.id })}><${LongName} name=${one.testId} /></a>
    ${" "}<span class="quiet">${!oneBox && html`on ${box(one)} `}<${HistoryLink} test=${one} orgId=${orgId} />
    ${!oneVerdict && html` · ${blamed(one)}`}</span> ${!oneClass && classBadge(one.class)}
    ${!isDecidedAlike(failures) && html`<${Decided} one=${one} />`}
  </li>`;
  return html`${byMessage(cause).map(({ line, none, held }) => html`<div key=${line ?? ""}>
      ${line ? html`<${Message} text=${line} />` : html`<span class="quiet">${none}</span>`}
      <ul class="commits">${held.map(each)}</ul></div>`)}
    ${failuresTotal > failures.length && html`<p class="quiet">and ${count(failuresTotal - failures.length)} more</p>`}
    ${(oneBox || oneVerdict) && html`<p class="quiet">${oneBox && html`on ${box(first)}`}${oneBox && oneVerdict && " · "}
      ${oneVerdict && blamed(first)}</p>`}`;
}

/** The failures by the message that they have, the most frequent first; then those whose message is not among these, or none. */
function byMessage({ failures, messages, messagesTotal }) {
  const byTest = failures.toSorted((one, other) => (one.testId < other.testId ? -1 : Number(one.testId > other.testId))); // as in its name
  const said = messages.map(({ line, failureIds }) => ({ line, held: byTest.filter(({ id }) => failureIds.includes(id)) }));
  const others = byTest.filter((one) => !said.some(({ held }) => held.includes(one)));
  const none = messagesTotal > messages.length ? "other messages, or none reported" : "no message reported";
  return others.length > 0 ? [...said, { none, held: others }] : said;
}

/** What decided all failures of a cause: the review with its note and issue, or else the reason of the checks. */
export function DecidedBy({ failures }) {
  return isDecidedAlike(failures) && html`<${Decided} one=${failures[0]} />`;
}

function isDecidedAlike(failures) {
  const by = (one) => `${decidedBy(one)} ${one.review?.issue}`;
  return failures.every((one) => by(one) === by(failures[0]));
}

function Decided({ one }) {
  const issue = one.review?.issue;
  return html`<span class="under">${decidedBy(one)}${issue && html`, <${Outside} href=${issue}>${issue}<//>`}</span>`;
}

function decidedBy({ class: now, review, status, reasonText }) {
  if (review) return `${sentence(MADE[review.action])} by ${status}${withNote(review)}`;
  return now === "ambiguous" ? `Undecided: ${reasonText[0].toLowerCase()}${reasonText.slice(1)}` : reasonText;
}

/** The commits that it is about, each with its files in short. */
function commitsOf({ failures: [{ repoKey: repo, brokenBy, firstFailure, fix }], commits }) {
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
    ...(isAmongThem ? [] : [["First failed on", named(firstFailure.sha)]]),
    ["Broken by", html`<${Suspects} range=${brokenBy} repo=${repo} about=${about} />`],
    ["Fixed by", fix ? named(fix.sha) : html`<span class="quiet">no later commit passed</span>`],
  ];
}
