// SPDX-License-Identifier: Apache-2.0
// Confirm, Dismiss and Reset (spec, "Review of a resolved failure"): which of them a failure's present state allows, and
// what each takes. Only a real firmware bug can be dismissed, so an ambiguous failure that is none is confirmed first, in
// the same step of the reviewer. The pages decide who may review and what is shown.

const REAL = "real_fw_bug";
const AMBIGUOUS = "ambiguous";

// The spec's table: what a failure must be for an action. No two rows of one action fit the same failure.
const ACTIONS = [
  {
    name: "confirm",
    title: "Confirm as firmware bug",
    doing: "Confirming…",
    hint: "Count it as a real firmware bug",
    fits: (now) => now.class !== REAL,
    steps: ["confirm"],
  },
  {
    name: "dismiss",
    title: "Not a firmware bug",
    doing: "Dismissing…",
    hint: "Confirm it, then dismiss it: it is no longer ambiguous",
    fits: (now) => now.class === AMBIGUOUS,
    steps: ["confirm", "dismiss"],
  },
  {
    name: "dismiss",
    title: "Dismiss",
    doing: "Dismissing…",
    hint: "Count it as no firmware bug",
    fits: (now) => now.class === REAL,
    steps: ["dismiss"],
  },
  {
    name: "reset",
    title: "Reset",
    doing: "Resetting…",
    hint: "Let the checks decide again",
    fits: (now) => now.review !== null,
    steps: ["reset"],
  },
];

/** The actions that a resolved failure offers. */
export function fittingActions(now) {
  return ACTIONS.filter(({ fits }) => fits(now));
}

/** What an action takes for a failure: nothing if it does not fit, and the failure stays as it is. */
export function stepsOf(action, now) {
  return fittingActions(now).find(({ name }) => name === action)?.steps ?? [];
}
