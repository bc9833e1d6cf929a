// SPDX-License-Identifier: Apache-2.0
// What failed on a commit, whose fault each is, and the run that would tell more; and what passes on it again.

import { addressOf } from "../../address.js";
import { chanceText, counted } from "../../format.js";
import { html } from "../../html.js";
import { Section } from "../../parts/section.js";
import { PlainTable } from "../../parts/table/table.js";
import { BoxLink, HistoryLink, TestLink } from "../../parts/values/past.js";
import { knownBadge } from "../../parts/values/labels.js";
import { Badge, LongName, Sha, Time } from "../../parts/values/values.js";
import { log } from "../../parts/values/words.js";
import { WHOSE } from "../../words.js";

const KINDS = { this_change: "bad", base: "bad", flaky: "warn", bench: "warn" };
const NONE = html`<span class="none">none</span>`;
const keyOf = ({ suite, testId }) => `${suite} ${testId}`;

/** The tests that failed. */
export function Failures({ commit, orgId }) {
  const { failures, counts, knownFailures } = commit;
  const total = counts.reduce((sum, row) => sum + row.failures, 0);
  const boxes = (keys) => keys.map((boxKey, at) => html`${at > 0 && ", "}<${BoxLink} plain key=${boxKey} ...${{ boxKey, orgId }} />`);
  const columns = [
    { key: "testId", fields: ["testId", "failureId", "logUrl"], title: "Test", name: true, cell: (row) => named(row, orgId) },
    { key: "whose", fields: ["whose", "chance", "known"], title: "Whose", words: true, cell: whose },
    { key: "failedOn", title: "Failed on", cell: ({ failedOn }) => boxes(failedOn) },
    { key: "passedOn", title: "Passed on", cell: ({ passedOn }) => (passedOn.length ? boxes(passedOn) : NONE) },
    { key: "says", fields: ["says", "evidence", "toSettle"], title: "Why", cell: why },
  ];
  return html`<${Section} title="Failed on it" total=${total} anchor="failed">
    ${total === 0 && html`<p class="quiet">No test failed on it.</p>`}
    ${total > 0 && html`<p>${counts.map(({ whose: of, failures: many }) => html`<span key=${of} class="apart">
      <${Badge} kind=${KINDS[of] ?? "quiet"}>${WHOSE[of] ?? of}<//> ${counted(many, "test")} </span>`)}
      ${knownFailures > 0 && html`<span class="apart">of all ${counted(knownFailures, "test")} known</span>`}</p>
      <${PlainTable} name="failed" label="Tests that failed on it" columns=${columns} rows=${failures} rowKey=${keyOf} />`}
    ${total > failures.length && html`<p class="quiet">and ${counted(total - failures.length, "more test")}</p>`}
  <//>`;
}

function named({ failureId, testId, suite, logUrl, ...test }, orgId) {
  const history = html`<${HistoryLink} test=${{ ...test, suite, testId }} orgId=${orgId} />`;
  return html`<a href=${addressOf("failure", { orgId, failureId })}><${LongName} name=${testId} /></a>
    <span class="under">${suite} ${history}${log(logUrl)}</span>`;
}

function whose({ whose: of, chance, known }) {
  return html`<${Badge} kind=${KINDS[of] ?? "quiet"}>${WHOSE[of] ?? of}<//>${knownBadge(known)}${chance !== null &&
    html` <span class="under">${chanceText(chance)} sure</span>`}`;
}

function why({ says, evidence, toSettle }) {
  return html`${says} <span class="under">${evidence}${toSettle && html`<br />${toSettle}`}</span>`;
}

/** The tests that pass on it and fail on its base branch. */
export function Passes({ commit: { passes, repoKey, baseBranch }, orgId }) {
  if (passes.length === 0) return null;
  const boxes = (row) => row.boxes.map((boxKey, at) => html`${at > 0 && ", "}<${BoxLink} plain key=${boxKey} ...${{ boxKey, orgId }} />`);
  const columns = [
    { key: "testId", title: "Test", name: true, cell: (row) => html`<${TestLink} test=${row} orgId=${orgId} />` },
    { key: "boxes", title: "Boxes", cell: boxes },
    { key: "since", fields: ["since", "sinceAt"], title: "Fails since", cell: ({ since, sinceAt }) =>
      html`<${Sha} sha=${since} repo=${repoKey} /> <span class="under"><${Time} at=${sinceAt} /></span>` },
    { key: "says", title: "What that means", cell: ({ says }) => says },
  ];
  return html`<${Section} title=${`Passes again, fails on ${baseBranch}`} total=${passes.length}>
    <${PlainTable} name="passes" label="Tests that pass again" columns=${columns} rows=${passes} rowKey=${keyOf} />
  <//>`;
}
