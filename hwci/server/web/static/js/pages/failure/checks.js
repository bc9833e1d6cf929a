// SPDX-License-Identifier: Apache-2.0
// The checks of the classification one by one, in the order of the spec's table (spec, "Classification of
// a resolved failure"): the question, what was found, and which answer decided. The checks after the deciding
// one were not asked.

import { addressOf } from "../../address.js";
import { counted, short } from "../../format.js";
import { html } from "../../html.js";
import { CommitLink, FileLink, PullLink } from "../../parts/links.js";
import { Section } from "../../parts/section.js";
import { Badge, Sha } from "../../parts/values.js";
import { RunLink } from "../../parts/words.js";

const [YES, NO] = ["yes", "no"];

/**
 * The steps of the spec, the list of commits that each is about, and its questions: each with the answer that
 * goes on to the next one. The other answer decides.
 * @type {[string, string | null, string[][]][]}
 */
const STEPS = [
  ["To show: the harness blamed the device", null, [
    ["verdict_infra", "Did the harness blame the bench?", NO],
    ["verdict_missing", "Did the harness report a verdict?", YES],
  ]],
  ["To show: firmware was under test", "underTest", [
    ["paths_not_configured", "Are firmware and harness paths configured for this product?", YES],
    ["changes_unknown", "Are the changes under test known?", YES],
    ["changes_incomplete", "Were enough of the files changed under test reported?", YES],
    ["changes_not_firmware", "Did a commit under test change firmware?", YES],
  ]],
  ["To show: firmware alone fixed it", "beforeFix", [
    ["fix_unconnected", "Do run reports connect the failure to its fix without a gap?", YES],
    ["fix_touched_harness", "Did a commit before the fix change harness files and no firmware?", NO],
    ["fix_not_firmware", "Can a change of firmware have fixed it?", YES],
    ["fix_mixed", "Did one commit before the fix change both firmware and harness?", NO],
    ["fix_incomplete", "Were all files changed before the fix reported?", YES],
  ]],
];
const WHERE = { underTest: "under test", beforeFix: "before the fix" };
const NOT_CHECKED = {
  flake: "Flakes are not checked: only resolved failures are.",
  pending: "The checks run once the failure is resolved: they need the commit that fixed it.",
};

/** The checks. */
export function Checks({ evidence, story, orgId, show }) {
  const { failure, resolved, checks } = evidence;
  if (!resolved) return html`<${Section} title="Checks"><p class="empty">${NOT_CHECKED[failure.label]}</p><//>`;
  const asked = new Map(checks.map((check) => [check.reason, check]));
  const shared = { evidence, story, orgId, show };
  return html`<${Section} title="Checks">
    <p class="quiet">A real firmware bug passes all of them, in this order; the first that does not pass decides.
      ${resolved.review ? " The review replaces what they say." : ""}</p>
    ${STEPS.map(([title, about, rows]) => html`<h3 key=${title}>${title}</h3>
      <${CommitCount} about=${about} evidence=${evidence} />
      <ol class="checks">${rows.map(
        ([reason, question, passes]) => html`<${Check} key=${reason} ...${{ question, passes }} check=${asked.get(reason)} ...${shared} />`,
      )}</ol>`)}
    ${resolved.automatic.class === "real_fw_bug" && html`<p class="conclusion">All checks passed: real firmware bug.</p>`}
  <//>`;
}

/** How many commits the questions of a step are about, where that is known. */
function CommitCount({ about, evidence }) {
  const total = about && evidence[`${about}Total`];
  return total !== null && html`<p class="quiet">${counted(total, "reported commit")} ${WHERE[about]}</p>`;
}

function Check({ question, passes, check, ...shared }) {
  if (!check) {
    return html`<li class="check not-reached">
      <p class="asked"><span class="question">${question}</span> <span class="quiet">not reached</span></p>
    </li>`;
  }
  return html`<li class=${check.decided ? "check decided" : "check"} data-reason=${check.reason}>
    <p class="asked"><span class="question">${question}</span>
      <${Answer} passes=${passes} decided=${check.decided} /></p>
    <p class="found">${check.found}.</p>
    ${check.decided && html`<p class="reason">${check.reasonText}</p>`}
    <${LookedAt} check=${check} ...${shared} />
  </li>`;
}

function Answer({ passes, decided }) {
  if (!decided) return html`<${Badge} kind="good">${passes}<//>`;
  return html`<${Badge} kind="warn">${passes === YES ? NO : YES}, this decided<//>`;
}

function LookedAt({ check, evidence, story, orgId, show }) {
  const { commit, file, pattern, run } = check;
  const repo = evidence.failure.repoKey;
  if (!commit && !run) return null;
  return html`<p class="looked quiet">
    ${commit && html`<span>commit <${Place} sha=${commit} ...${{ evidence, story, orgId, show }} /></span>`}
    ${file && html`<span>file <${FileLink} ...${{ repo, sha: commit, path: file }} />
      ${pattern && html` by pattern <code>${pattern}</code>`}</span>`}
    ${run && html`<span><${RunLink} run=${run} orgId=${orgId} /> on ${run.boxKey}</span>`}
  </p>`;
}

/** A commit, which leads to its place on the line. */
function Place({ sha, story, evidence, orgId, show }) {
  const commit = story.find((one) => one.sha === sha);
  const repo = evidence.failure.repoKey;
  if (!commit) return html`<${Sha} ...${{ sha, repo }} />`;
  const subject = commit.change?.subject ?? "";
  const address = addressOf("failure", { orgId, failureId: evidence.failure.id }, { commit: sha });
  const follow = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // in another tab
    event.preventDefault();
    show(sha);
  };
  return html`<a href=${address} onClick=${follow}><code>${short(sha)}</code> ${subject}</a>
    <${CommitLink} ...${{ repo, sha }} /><${PullLink} ...${{ repo, subject }} />`;
}
