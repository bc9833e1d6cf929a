// SPDX-License-Identifier: Apache-2.0
// The checks of the classification one by one, in the order of the spec's table (spec, "Classification of
// a resolved failure"): what was asked, what was found, and which answer decided. Those after the deciding
// one were never asked.

import { addressOf } from "../../address.js";
import { short } from "../../format.js";
import { html } from "../../html.js";
import { Section } from "../../parts/section.js";
import { Badge, Sha } from "../../parts/values.js";
import { RunLink } from "../../parts/words.js";

// A "yes" decides.
const STEPS = [
  ["The harness blamed the device", [
    ["verdict_infra", "Did the harness blame the bench?"],
    ["verdict_missing", "Did the harness blame nobody?"],
  ]],
  ["Firmware was under test", [
    ["paths_not_configured", "Are the product's firmware and harness paths missing?"],
    ["changes_unknown", "Is it unknown which changes were under test?"],
    ["changes_incomplete", "Is no firmware seen under test, but part of it was not reported?"],
    ["changes_not_firmware", "Did the changes under test leave firmware alone?"],
  ]],
  ["Firmware alone fixed it", [
    ["fix_unconnected", "Is there a gap between the failure and the fix?"],
    ["fix_touched_harness", "Did a commit before the fix change the harness and no firmware?"],
    ["fix_not_firmware", "Did the changes before the fix leave firmware alone?"],
    ["fix_mixed", "Did one commit change both firmware and harness?"],
    ["fix_incomplete", "Were files before the fix left out of the reports?"],
  ]],
];
const NOT_CHECKED = {
  flake: "A flake is not checked: the checks are asked of resolved failures only.",
  pending: "The checks are asked once the failure is resolved: they need the commit that fixed it.",
};

/** The checks. */
export function Checks({ evidence, story, orgId, show }) {
  const { failure, resolved, checks } = evidence;
  if (!resolved) return html`<${Section} title="Checks"><p class="empty">${NOT_CHECKED[failure.label]}</p><//>`;
  const asked = new Map(checks.map((check) => [check.reason, check]));
  const shared = { evidence, story, orgId, show };
  return html`<${Section} title="Checks">
    <p class="quiet">Asked in this order; the first “yes” decides. ${resolved.review ? "The review replaces what they say." : ""}</p>
    ${STEPS.map(([title, rows]) => html`<h3 key=${title}>${title}</h3>
      <ol class="checks">${rows.map(
        ([reason, question]) => html`<${Check} key=${reason} question=${question} check=${asked.get(reason)} ...${shared} />`,
      )}</ol>`)}
    ${resolved.automatic.class === "real_fw_bug" && html`<p class="conclusion">No check decided otherwise: a real firmware bug.</p>`}
  <//>`;
}

function Check({ question, check, ...shared }) {
  if (!check) {
    return html`<li class="check not-reached">
      <p class="asked"><span class="question">${question}</span> <span class="quiet">not reached</span></p>
    </li>`;
  }
  return html`<li class=${check.decided ? "check decided" : "check"} data-reason=${check.reason}>
    <p class="asked"><span class="question">${question}</span>
      ${check.decided ? html`<${Badge} kind="warn">yes, this decided<//>` : html`<${Badge} kind="good">no<//>`}</p>
    <p class="found">${check.found}.</p>
    ${check.decided && html`<p class="reason">${check.reasonText}</p>`}
    <${LookedAt} check=${check} ...${shared} />
  </li>`;
}

function LookedAt({ check, evidence, story, orgId, show }) {
  const { commit, file, pattern, run } = check;
  if (!commit && !run) return null;
  return html`<p class="looked quiet">
    ${commit && html`<span>commit <${CommitLink} sha=${commit} ...${{ evidence, story, orgId, show }} /></span>`}
    ${file && html`<span>file <code>${file}</code>${pattern && html` by pattern <code>${pattern}</code>`}</span>`}
    ${run && html`<span><${RunLink} run=${run} orgId=${orgId} /> on ${run.boxKey}</span>`}
  </p>`;
}

function CommitLink({ sha, story, evidence, orgId, show }) {
  const commit = story.find((one) => one.sha === sha);
  if (!commit) return html`<${Sha} sha=${sha} />`;
  const address = addressOf("failure", { orgId, failureId: evidence.failure.id }, { commit: sha });
  const follow = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // in another tab
    event.preventDefault();
    show(sha);
  };
  return html`<a href=${address} onClick=${follow}><code>${short(sha)}</code> ${commit.change?.subject ?? ""}</a>`;
}
