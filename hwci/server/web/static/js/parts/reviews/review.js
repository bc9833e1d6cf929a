// SPDX-License-Identifier: Apache-2.0
// Confirm, Dismiss and Reset (spec, "Review of a resolved failure"): which of them the present state
// allows, and how to request one. The pages decide who may review and what is shown. Only a real firmware bug can be
// dismissed, so an ambiguous failure that is none is confirmed first, in the same step of the reviewer.

import { post } from "../../api.js";

const REAL = "real_fw_bug";
const AMBIGUOUS = "ambiguous";
const STEPS = { settle: ["confirm", "dismiss"] };

// The spec's table: what a failure must be for an action.
const ACTIONS = [
  {
    name: "confirm",
    title: "Confirm as firmware bug",
    doing: "Confirming…",
    hint: "Count it as a real firmware bug",
    fits: (now) => now.class !== REAL,
  },
  {
    name: "settle",
    title: "Not a firmware bug",
    doing: "Dismissing…",
    hint: "Confirm it, then dismiss it: it is no longer ambiguous",
    fits: (now) => now.class === AMBIGUOUS,
  },
  {
    name: "dismiss",
    title: "Dismiss",
    doing: "Dismissing…",
    hint: "Count it as no firmware bug",
    fits: (now) => now.class === REAL,
  },
  {
    name: "reset",
    title: "Reset",
    doing: "Resetting…",
    hint: "Let the checks decide again",
    fits: (now) => now.review !== null,
  },
];

/** The actions that a resolved failure offers. */
export function fittingActions(resolved) {
  return ACTIONS.filter(({ fits }) => fits(resolved));
}

/** Review a failure. `written`: `{note, issue}`, if there is any. Return its new state. */
export async function review(orgId, failureId, action, written) {
  let now;
  for (const step of STEPS[action] ?? [action]) {
    now = await post(`/api/orgs/${orgId}/ci-failures/${failureId}/${step}`, written);
  }
  return now;
}
