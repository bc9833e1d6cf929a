// SPDX-License-Identifier: Apache-2.0
// The table of runs: its columns and their cells.

import { addressOf } from "../../address.js";
import { count } from "../../format.js";
import { html } from "../../html.js";
import { kept } from "../../parts/frame/scope.js";
import { Outside } from "../../parts/values/outside.js";
import { BoxLink } from "../../parts/values/past.js";
import { Sha, Time } from "../../parts/values/values.js";
import { outcomeBadge, runText } from "../../parts/values/words.js";
import { Duration, Status } from "./words.js";

const COUNTS = [
  ["passed", "Passed"],
  ["failed", "Failed"],
  ["retried", "Retried"],
];

/** The columns of the list of runs. `ofTest`: with what each gave for the test that was asked for. */
export function runColumns(orgId, ofTest = false) {
  const box = ({ boxKey }) => html`<${BoxLink} plain boxKey=${boxKey} orgId=${orgId} />`;
  return [
    { key: "status", fields: ["status", "ending"], title: "Status", words: true, cell: (run) => html`<${Status} run=${run} />` },
    { key: "run", title: "Run", words: true, fixed: true, cell: (run) => nameOf(run, orgId) },
    ...(ofTest ? [{ key: "result", title: "This test", words: true, cell: resultOf }] : []),
    { key: "product", fields: ["repoKey", "suite"], title: "Product", words: true, cell: productOf },
    { key: "box", title: "Box", words: true, fixed: true, cell: box },
    { key: "branch", fields: ["branch", "trigger"], title: "Branch", cell: branchOf },
    { key: "sha", title: "Commit", cell: (run) => html`<${Sha} sha=${run.sha} repo=${run.repoKey} />` },
    { key: "startedAt", title: "Started", own: "down", words: true, cell: (run) => html`<${Time} at=${run.startedAt} />` },
    {
      key: "duration",
      fields: ["startedAt", "endedAt"],
      title: "Duration",
      numeric: true,
      cell: (run) => html`<${Duration} run=${run} />`,
    },
    ...COUNTS.map(([key, title]) => ({ key, title, fields: [`tests.${key}`], numeric: true, cell: (run) => figure(key, run.tests[key]) })),
  ];
}

function productOf({ suite, repoKey }) {
  return html`<span class=${kept(suite)}>${suite}</span> <span class=${`under ${kept(repoKey)}`}>${repoKey}</span>`;
}

function branchOf({ branch, trigger }) {
  return html`${branch} <span class="under">${trigger}</span>`;
}

function nameOf(run, orgId) {
  const address = addressOf("run", { orgId, runId: run.id });
  return html`<a href=${address}>${runText(run)}</a> <span class="under apart">${run.workflow}${run.ciUrl &&
    html` · <${Outside} href=${run.ciUrl}>CI job<//>`}</span>`;
}

/** What the run gave for the test. */
function resultOf({ result, helloOk }) {
  if (!helloOk) return html`<span class="none" title="A run that never reached the hardware does not count">never reached</span>`;
  const { outcome, attempts } = result;
  return html`${outcomeBadge(outcome, attempts)}${attempts > 1 && html` <span class="under">${count(attempts)} attempts</span>`}`;
}

function figure(key, value) {
  const kind = value === 0 ? "none" : key === "failed" ? "is-bad" : undefined;
  return html`<span class=${kind}>${count(value)}</span>`;
}
