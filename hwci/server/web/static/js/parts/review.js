// SPDX-License-Identifier: Apache-2.0
// Confirm, Dismiss and Reset (spec, "Review of a resolved failure"): which of them the present state
// allows, and how to request one. The pages decide who may review and what is shown.

import { post } from "../api.js";

const REAL = "real_fw_bug";

// The spec's table: what a failure must be for an action.
const ACTIONS = [
  { name: "confirm", title: "Confirm", doing: "Confirming…", hint: "Count it as a real firmware bug", fits: (now) => now.class !== REAL },
  { name: "dismiss", title: "Dismiss", doing: "Dismissing…", hint: "Count it as no firmware bug", fits: (now) => now.class === REAL },
  { name: "reset", title: "Reset", doing: "Resetting…", hint: "Let the checks decide again", fits: (now) => now.review !== null },
];

/** The actions that a resolved failure offers. */
export function fittingActions(resolved) {
  return ACTIONS.filter(({ fits }) => fits(resolved));
}

/** Review a failure. Return its new state. */
export function review(orgId, failureId, action) {
  return post(`/api/orgs/${orgId}/ci-failures/${failureId}/${action}`);
}
