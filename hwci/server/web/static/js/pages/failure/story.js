// SPDX-License-Identifier: Apache-2.0
// The commits of a failure in one line, oldest first: those that ran the test on the box (the timeline,
// with its changes as any run listed them) and those that runs listed without testing each (the changes under
// test and before the fix). A pure function of the API's answer; it draws nothing.

import { MAY_HAVE_BROKEN } from "../../words.js";

const ALIKE_AT_LEAST = 3; // so many plain commits in a row are folded into one line

/**
 * Return the commits: `{sha, change, ran, state, marks, suspect, range}`. `change`: its subject and files,
 * where known; `ran`: its runs, null where the test did not run on it; `marks`: what it is to the
 * failure; `suspect`: it lies in the range that broke the test; `range`: the list it is part of.
 */
export function storyOf(evidence) {
  const { timeline, resolved, failure, brokenBy } = evidence;
  const ran = new Map(timeline.map((commit) => [commit.sha, commit]));
  const underTest = evidence.underTest ?? [];
  const beforeFix = evidence.beforeFix ?? [];
  const known = [...evidence.timelineChanges, ...underTest, ...beforeFix];
  const changes = new Map(known.map((commit) => [commit.sha, commit]));
  const first = resolved?.firstFailure.sha ?? firstFailing(timeline, failure);
  const order = timeline.map((commit) => commit.sha);
  woven(order, underTest, first);
  woven(order, beforeFix, resolved?.fix?.sha);
  const marks = marksOf(evidence, order, ran, first);
  const suspects = suspectsOf(order, brokenBy);
  const ranges = new Map([...listed(underTest, "under test"), ...listed(beforeFix, "before the fix")]);
  ranges.delete(resolved?.fix?.sha); // the last of those lists, and not before itself: it is marked
  return order.map((sha) => ({
    sha,
    change: changes.get(sha) ?? null,
    ran: ran.get(sha) ?? null,
    state: stateOf(ran.get(sha)),
    marks: marks.get(sha) ?? [],
    suspect: suspects.has(sha),
    range: ranges.get(sha) ?? null,
  }));
}

/** Return the first commit of an unresolved failure's row of failing commits, as far as it is shown. */
export function firstFailing(timeline, failure) {
  let at = timeline.findIndex((commit) => commit.sha === failure.sha);
  if (at < 0 || timeline[at].passed) return failure.sha;
  while (at > 0 && !timeline[at - 1].passed) at -= 1;
  return timeline[at].sha;
}

/** Return the commits with rows of plain ones alike folded: `{commit}`, or `{folded: [commit, ...]}`. */
export function foldedRows(story, opened) {
  const rows = [];
  for (let at = 0; at < story.length; ) {
    const end = endOfAlike(story, at, opened);
    if (end - at >= ALIKE_AT_LEAST) rows.push({ folded: story.slice(at, end) });
    else rows.push(...story.slice(at, Math.max(end, at + 1)).map((commit) => ({ commit })));
    at = Math.max(end, at + 1);
  }
  return rows;
}

function endOfAlike(story, at, opened) {
  const { state, range } = story[at];
  const alike = (commit) =>
    commit.state === state && commit.range === range && commit.marks.length === 0 && commit.sha !== opened;
  let end = at;
  while (end < story.length && alike(story[end])) end += 1;
  return end;
}

/** Put the commits of a list before those that follow them in it; the last one comes before `end`. */
function woven(order, commits, end) {
  let next = end;
  for (const { sha } of [...commits].reverse()) {
    if (!order.includes(sha)) {
      const place = order.indexOf(next);
      order.splice(place < 0 ? order.length : place, 0, sha);
    }
    next = sha;
  }
}

function stateOf(ran) {
  if (!ran) return "unknown";
  if (ran.passed && ran.failed) return "both";
  return ran.passed ? "passed" : "failed";
}

function marksOf({ failure, resolved, brokenBy }, order, ran, first) {
  const marks = new Map();
  const mark = (sha, text, kind) => sha && marks.set(sha, [...(marks.get(sha) ?? []), { text, kind }]);
  const before = order.slice(0, Math.max(0, order.indexOf(first)));
  if (failure.label !== "flake") mark(before.findLast((sha) => ran.get(sha)?.passed), "last pass", "good");
  const broken = brokenBy?.commits ?? [];
  const isKnown = resolved && broken.length === 1; // while it fails, the bench may have done it
  for (const { sha } of broken) mark(sha, isKnown ? "broke it" : MAY_HAVE_BROKEN.toLowerCase(), "bad");
  if (failure.label !== "flake") mark(first, "first failure", "bad");
  if (resolved && resolved.lastFailingSha !== first) mark(resolved.lastFailingSha, "last failure", "bad");
  if (failure.sha !== first || failure.label === "flake") mark(failure.sha, "this failure", "warn");
  mark(resolved?.fix?.sha, "fix", "good");
  return marks;
}

function suspectsOf(order, brokenBy) {
  if (!brokenBy) return new Set();
  return new Set(order.slice(order.indexOf(brokenBy.from), order.indexOf(brokenBy.to) + 1));
}

function listed(commits, range) {
  return commits.map(({ sha }) => [sha, range]);
}
