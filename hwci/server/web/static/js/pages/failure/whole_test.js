// SPDX-License-Identifier: Apache-2.0
// Beside a failure that is not resolved, what all runs of its test say: on which boxes and since when it fails, and
// where to look first. The API decides the words. They are asked for after the page, which does not wait for them.

import { counted } from "../../format.js";
import { html } from "../../html.js";
import { DAYS_DEFAULT, daysBackTo } from "../../parts/frame/scope.js";
import { Section } from "../../parts/section.js";
import { HistoryLink } from "../../parts/values/past.js";
import { useOwnDays } from "../../parts/zone.js";

const NOT_CHECKED = {
  flake: "Flakes are not checked: only resolved failures are.",
  pending: "The checks run once the failure is resolved: they need the commit that fixed it.",
};

/** The section. `range`: the commits that may have broken it by the rules, which look at its first failing run. */
export function WholeTest({ failure: { repoKey, suite, testId, branch, label, firstStartedAt }, range, orgId }) {
  const days = Math.max(DAYS_DEFAULT, daysBackTo(firstStartedAt)); // which have the failure
  const test = { repoKey, suite, testId };
  const { data, error } = useOwnDays(`/api/orgs/${orgId}/ci-analysis/test`, { ...test, days });
  return html`<${Section} title=${`The test in ${days} days`}>
    <p>${error ? error.message : !data ? "Loading…" : html`<strong>${data.answer}</strong> ${data.says}`}
      ${" "}<${HistoryLink} test=${test} orgId=${orgId} days=${days} /></p>
    ${data?.history?.branch === branch && range?.commits.length > 1 && html`<p>Its first failing run leaves
      ${" "}${counted(range.commits.length, "firmware commit")}; by the history of the test, ${data.history.says}.</p>`}
    <p class="quiet">${NOT_CHECKED[label]}</p>
  <//>`;
}
