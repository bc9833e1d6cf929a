// SPDX-License-Identifier: Apache-2.0
// The text for an empty list of failures: what that means, and where to look next.

import { addressOf } from "../../address.js";
import { html } from "../../html.js";
import { takenAlong } from "../../parts/frame/scope.js";
import { NoReport } from "../../parts/notices/no_report.js";

const NONE = {
  flake: "No failure of this period passed on the same commit and box too.",
  resolved: "No failure of this period is resolved: its test has to pass on a later commit, on the same box.",
  pending: "Nothing that failed in this period is still failing.",
};

/** The text. `clear()` removes all filters, or those that it is given. */
export function Nothing({ orgId, scope, filters: { label, testId, known }, products, clear }) {
  if (products?.length === 0) return html`<${NoReport} orgId=${orgId} />`;
  if (known) {
    return html`No failure of this period is ${known === "true" ? "" : "not "}known, as far as the other filters go.
      ${" "}<button type="button" onClick=${() => clear({ known: null })}>Show both</button>`;
  }
  if (testId) return html`<${NothingOf} ...${{ orgId, scope, label, testId, clear }} />`;
  if (label) return html`${NONE[label]} <button type="button" onClick=${() => clear()}>Show all failures</button>`;
  return html`No test failed in this period. Choose a longer period, or look whether any test ran:
    ${" "}<a href=${addressOf("runs", { orgId }, takenAlong("runs", orgId))}>Runs</a>`;
}

/** The text for one test. */
function NothingOf({ orgId, scope, label, testId, clear }) {
  if (label) {
    return html`No failure of this test has this label in this period.
      ${" "}<button type="button" onClick=${() => clear({ label: null })}>Show its other failures</button>`;
  }
  const flaky = `${addressOf("metrics", { orgId }, { ...scope, "flaky.search": testId })}#flaky`;
  return html`No test of this name failed in this period; a pass on a retry is not a failure.
    ${" "}<a href=${flaky}>See its attempts</a>`;
}
