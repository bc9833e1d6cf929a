// SPDX-License-Identifier: Apache-2.0
// How every page writes the API's values: outcomes, verdicts, classes, runs, and kinds of files. The API decides which
// of them an answer has.

import { addressOf } from "../../address.js";
import { html } from "../../html.js";
import { CLASSES, PASSED_ON_A_RETRY, VERDICTS } from "../../words.js";
import { Outside } from "./outside.js";
import { BoxLink, HistoryLink } from "./past.js";
import { Badge, LongName } from "./values.js";

const OUTCOMES = { pass: ["good", "passed"], fail: ["bad", "failed"] };
const ON_A_RETRY = ["warn", PASSED_ON_A_RETRY];
const VERDICT_BADGES = { device: ["bad", "Device"], infra: ["warn", "Infra"], unknown: ["quiet", "None reported"] };
const CLASS_KINDS = { real_fw_bug: "bad", bench_or_harness: "warn" };

/** The kinds of files, in the order in which pages name them. */
export const KINDS = ["firmware", "harness", "both", "other"];

/** The outcome of a test in a run, after this many attempts. */
export function outcomeBadge(value, attempts = 1) {
  const [kind, text] = value === "pass" && attempts > 1 ? ON_A_RETRY : OUTCOMES[value];
  return html`<${Badge} kind=${kind}>${text}<//>`;
}

/** The verdict of the harness. */
export function verdict(value) {
  const [kind, text] = VERDICT_BADGES[value];
  return html`<${Badge} kind=${kind} title=${VERDICTS[value]}>${text}<//>`;
}

/** The way to the log of a test, where its report has it. */
export function log(address) {
  return address && html` <${Outside} href=${address}>log<//>`;
}

/** The column of the boards on which tests ran, where any of these rows names one. */
export function boards(rows) {
  return rows.some(({ board }) => board) ? [{ key: "board", title: "Board", cell: ({ board }) => board }] : [];
}

/** Whose fault a resolved failure was. */
export function classBadge(value) {
  return html`<${Badge} kind=${CLASS_KINDS[value] ?? "quiet"}>${CLASSES[value].name}<//>`;
}

/** "run 71", and its attempt where it is not the first. */
export function runText({ runId, runAttempt, ciRun }) {
  const number = ciRun ?? runId;
  return runAttempt === 1 ? `run ${number}` : `run ${number}, attempt ${runAttempt}`;
}

/** A link to a run that an answer about failures names. */
export function RunLink({ run, orgId }) {
  return html`<a href=${addressOf("run", { orgId, runId: run.runRecordId })}>${runText(run)}</a>`;
}

/** A link to a failure, by its test, box and branch; below it, links to its box and its test. */
export function FailureLink({ failure, orgId, history = true }) {
  return html`<a href=${addressOf("failure", { orgId, failureId: failure.id })}><${LongName} name=${failure.testId} /></a>
    <span class="under"><${BoxLink} plain boxKey=${failure.boxKey} orgId=${orgId} /> · ${failure.branch}
      ${history && html` <${HistoryLink} test=${failure} orgId=${orgId} />`}</span>`;
}

/** The kind of a file, as a word with its colour. */
export function Kind({ kind }) {
  return html`<span class=${`kind kind-${kind}`}>${kind}</span>`;
}
