// SPDX-License-Identifier: Apache-2.0
// How every page writes the API's values: outcomes, verdicts, classes, runs, and kinds of files. The API decides which
// of them an answer has.

import { addressOf } from "../../address.js";
import { html } from "../../html.js";
import { BoxLink, HistoryLink } from "./past.js";
import { Badge, LongName } from "./values.js";

const OUTCOMES = { pass: ["good", "passed"], fail: ["bad", "failed"] };
const ON_A_RETRY = ["warn", "passed on a retry"];
const VERDICTS = {
  device: ["bad", "Device", "The harness blamed the device under test"],
  infra: ["warn", "Infra", "The harness blamed the bench"],
  unknown: ["quiet", "None reported", "No harness verdict was reported"],
};
const CLASSES = {
  real_fw_bug: ["bad", "Real firmware bug", "a real firmware bug"],
  bench_or_harness: ["warn", "Bench or harness", "a bench or harness problem"],
  ambiguous: ["quiet", "Ambiguous", "ambiguous"],
  dismissed: ["quiet", "Dismissed", "dismissed"],
};

/** The kinds of files, in the order in which pages name them. */
export const KINDS = ["firmware", "harness", "both", "other"];

/** The outcome of a test in a run, after this many attempts. */
export function outcomeBadge(value, attempts = 1) {
  const [kind, text] = value === "pass" && attempts > 1 ? ON_A_RETRY : OUTCOMES[value];
  return html`<${Badge} kind=${kind}>${text}<//>`;
}

/** The verdict of the harness. */
export function verdict(value) {
  const [kind, text, title] = VERDICTS[value];
  return html`<${Badge} kind=${kind} title=${title}>${text}<//>`;
}

/** Whose fault a resolved failure was. */
export function classBadge(value) {
  const [kind, text] = CLASSES[value];
  return html`<${Badge} kind=${kind}>${text}<//>`;
}

/** The classes of failures that are not real firmware bugs, as the API names them. */
export const OTHER_CLASSES = Object.keys(CLASSES).filter((name) => name !== "real_fw_bug");

/** The name of a class. */
export function className(value) {
  return CLASSES[value][1];
}

/** The name of a class within a sentence: "it counts as a real firmware bug". */
export function classText(value) {
  return CLASSES[value]?.[2] ?? value;
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
