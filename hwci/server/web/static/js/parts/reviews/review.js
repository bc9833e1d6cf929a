// SPDX-License-Identifier: Apache-2.0
// Confirm, Dismiss and Reset (spec, "Review of a resolved failure"): which of them a failure's present state allows,
// what each takes, and how it is told. Only a real firmware bug can be dismissed, so an ambiguous failure that is none is
// confirmed first, in the same step of the reviewer. The pages decide who may review and what is shown.

import { count, counted } from "../../format.js";
import { classText } from "../values/classes.js";

const REAL = "real_fw_bug";
const AMBIGUOUS = "ambiguous";
const NAMED = 3; // failures that a message names
const QUOTED = 60; // characters of a note that a message has

export const CONFIRM = "confirm";

/** The action that takes a review away, and what gives back the one before. */
export const RESET = "reset";
export const UNDO = "undo";

/** What a review is called once it is made. */
export const MADE = { confirm: "confirmed", dismiss: "dismissed" };

const AS = { confirm: "as a real firmware bug", dismiss: "as not a firmware bug" };

// The spec's table: what a failure must be for an action.
const ACTIONS = [
  {
    name: CONFIRM,
    title: "Confirm as firmware bug",
    ofSeveral: (number) => `Confirm ${count(number)} as firmware ${number === 1 ? "bug" : "bugs"}`,
    doing: "Confirming…",
    hint: "Count it as a real firmware bug",
    fits: (now) => now.class !== REAL,
    steps: () => ["confirm"],
  },
  {
    name: "dismiss",
    title: "Dismiss",
    ofSeveral: (number) => `Dismiss ${count(number)}`,
    doing: "Dismissing…",
    hint: "Count it as no firmware bug",
    fits: (now) => now.class === REAL || now.class === AMBIGUOUS,
    steps: (now) => (now.class === AMBIGUOUS ? ["confirm", "dismiss"] : ["dismiss"]),
  },
  {
    name: RESET,
    title: "Reset",
    ofSeveral: (number) => `Reset ${count(number)}`,
    doing: "Resetting…",
    hint: "Let the checks decide again",
    fits: (now) => now.review !== null,
    steps: () => [RESET],
  },
];

/** The actions that fit one of these resolved failures. */
export function fittingActions(failures) {
  return ACTIONS.filter(({ fits }) => failures.some(fits));
}

/** Which of these failures an action changes; a reset, those of their common review. */
export function changedBy(action, failures) {
  const meant = action === RESET ? commonReview(failures).held : failures;
  return meant.filter((now) => stepsOf(action, now).length > 0);
}

/** What an action takes for a failure: nothing if it does not fit, and the failure stays as it is. */
export function stepsOf(action, now) {
  const { fits, steps } = ACTIONS.find(({ name }) => name === action);
  return fits(now) ? steps(now) : [];
}

/**
 * The review of failures that are reviewed as one: what one person decided of most of them, of two such decisions the earlier
 * one. Return `{held, others}`: the failures that have it, and those with another review.
 */
export function commonReview(failures) {
  const reviewed = failures.filter(({ review }) => review);
  const decision = ({ review: { by, action } }) => `${action} ${by.id}`;
  const decisions = new Map();
  for (const one of reviewed) decisions.set(decision(one), [...(decisions.get(decision(one)) ?? []), one]);
  const first = (held) => Math.min(...held.map(({ review }) => Date.parse(review.at)));
  const [held = []] = [...decisions.values()].sort((a, b) => b.length - a.length || first(a) - first(b));
  return { held, others: reviewed.filter((one) => !held.includes(one)) };
}

/** Failures by their names, and what each was reviewed as. */
export function reviewedAs(failures) {
  const named = failures
    .slice(0, NAMED)
    .map(({ testId, boxKey, review, status }) => `${testId} on ${boxKey} (${MADE[review.action]} by ${status})`);
  const others = failures.length - named.length;
  return others > 0 ? `${named.join(", ")} and ${count(others)} more` : named.join(", ");
}

/** What it takes to give a failure the review back that it had, or none; what its class forbids takes the other one first. */
export function stepsBackTo(review, now) {
  if (!review) return [RESET];
  const steps = stepsOf(review.action, now);
  return steps.length > 0 ? steps : [review.action === "confirm" ? "dismiss" : "confirm", review.action];
}

/** " with the note “…”", if there is one. `most`: as many of its characters. */
export function withNote({ note }, most = Infinity) {
  if (!note) return "";
  return ` with the note “${note.length > most ? `${note.slice(0, most).trimEnd()}…` : note}”`;
}

/**
 * What was done, as a sentence: "confirmed as a real firmware bug." `items`: the failures as they are now; `stay`: those
 * that a reset left as they were.
 */
export function told(action, items, stay) {
  if (action === UNDO) return "undone.";
  const [{ label, class: now, review }] = items;
  if (MADE[action]) {
    const what = items.length > 1 ? `${counted(items.length, "failure")} ${MADE[action]}` : `${MADE[action]} ${AS[action]}`;
    return `${what}${withNote(review, QUOTED)}.`;
  }
  const is = label === "resolved" ? `; it counts as ${classText(now)}` : `; it is now ${label === "flake" ? "a flake" : "pending"}`;
  const left = stay.length > 0 ? ` Another review stays: ${reviewedAs(stay)}.` : "";
  return `the review is reset${items.length > 1 ? ` for ${counted(items.length, "failure")}` : is}.${left}`;
}
