// SPDX-License-Identifier: Apache-2.0
// The checks of the classification one by one, in the order of the spec's table (spec, "Classification of
// a resolved failure"): what holds of a real firmware bug, whether it holds here, and what was found. The
// checks after the deciding one were not asked.

import { addressOf, change } from "../../address.js";
import { count, counted, short } from "../../format.js";
import { html } from "../../html.js";
import { CommitLink, FileLink, PullLink } from "../../parts/values/links.js";
import { Section } from "../../parts/section.js";
import { BoxLink } from "../../parts/values/past.js";
import { Badge, Sha } from "../../parts/values/values.js";
import { RunLink } from "../../parts/values/words.js";
import { STEPS } from "../../words.js";

/** The list of commits that a step is about. */
const LISTS = { "under test": "underTest", "before the fix": "beforeFix" };

/** The checks of a resolved failure: the one that decided, and the others folded below it. */
export function Checks({ evidence, story, orgId, show, open }) {
  const { resolved, checks } = evidence;
  const shared = { evidence, story, orgId, show };
  const deciding = checks.find((check) => check.decided);
  return html`<${Section} title="Checks">
    <p class="quiet">A real firmware bug passes all of them, in this order; the first that does not pass decides.
      ${resolved.review ? " The review replaces what they say." : ""}</p>
    ${deciding
      ? html`<ol class="checks"><${Check} check=${deciding} ...${shared} /></ol>`
      : html`<p class="conclusion">All checks passed: real firmware bug.</p>`}
    <${Others} ...${shared} deciding=${deciding} open=${open} />
  <//>`;
}

/** The other checks by steps: those before the deciding one passed, those after it were not asked. */
function Others({ deciding, open, ...shared }) {
  const { checks } = shared.evidence;
  const asked = new Map(checks.map((check) => [check.reason, check]));
  const passed = checks.length - (deciding ? 1 : 0);
  const total = STEPS.reduce((sum, { claims }) => sum + Object.keys(claims).length, 0);
  const left = total - checks.length;
  const words = [passed && `${counted(passed, "check")} passed`, left && `${count(left)} not reached`];
  const turn = () => change({ checks: open ? null : "open" }, { replace: true });
  return html`<p><button type="button" class="fold" aria-expanded=${open ? "true" : "false"} aria-controls="other-checks"
      onClick=${turn}>${words.filter(Boolean).join(", ")}</button></p>
    <div id="other-checks" hidden=${!open}>${open && STEPS.map(({ title, about, claims }) => html`<h3 key=${title}>${title}</h3>
      <${CommitCount} about=${about} evidence=${shared.evidence} />
      <ol class="checks">${Object.entries(claims)
        .filter(([reason]) => reason !== deciding?.reason)
        .map(([reason, claim]) => html`<${Check} key=${reason} claim=${claim} check=${asked.get(reason)} ...${shared} />`)}</ol>`)}
    </div>`;
}

/** How many commits the claims of a step are about, where that is known. */
function CommitCount({ about, evidence }) {
  const total = about && evidence[`${LISTS[about]}Total`];
  return total !== null && html`<p class="quiet">${counted(total, "reported commit")} ${about}</p>`;
}

/** A check: what holds if it passed, or was not reached; else why it did not. Beside a ✗ the claim would read as true. */
function Check({ claim, check, ...shared }) {
  if (!check) {
    return html`<li class="check not-reached">
      <p class="asked"><span class="claim">${claim}</span> <span class="quiet">not reached</span></p>
    </li>`;
  }
  return html`<li class=${check.decided ? "check decided" : "check"} data-reason=${check.reason}>
    <p class="asked"><${Answer} decided=${check.decided} /> <span class="claim">${check.decided ? check.reasonText : claim}</span></p>
    <p class="found">${check.found}.</p>
    <${LookedAt} check=${check} ...${shared} />
  </li>`;
}

function Answer({ decided }) {
  const [kind, sign, words] = decided ? ["warn", "✗", "not passed, this decided:"] : ["good", "✓", "passed:"];
  return html`<${Badge} kind=${kind}><span aria-hidden="true">${sign}</span><span class="unseen">${words}</span><//>`;
}

function LookedAt({ check, evidence, story, orgId, show }) {
  const { commit, file, pattern, run } = check;
  const repo = evidence.failure.repoKey;
  if (!commit && !run) return null;
  return html`<p class="looked quiet">
    ${commit && html`<span>commit <${Place} sha=${commit} ...${{ evidence, story, orgId, show }} /></span>`}
    ${file && html`<span>file <${FileLink} ...${{ repo, sha: commit, path: file }} />
      ${pattern && html` by pattern <code>${pattern}</code>`}</span>`}
    ${run && html`<span><${RunLink} run=${run} orgId=${orgId} /> on <${BoxLink} plain boxKey=${run.boxKey} orgId=${orgId} /></span>`}
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
