// SPDX-License-Identifier: Apache-2.0
// The drawing of a failure: the commits of the branch as a line, oldest first, from the last pass over
// the failing ones to the fix. A commit opens in its place, so that the line reads on a phone too.

import { change } from "../../address.js";
import { count, counted, shortened } from "../../format.js";
import { html, useEffect } from "../../html.js";
import { Section } from "../../parts/section.js";
import { PullLink } from "../../parts/values/links.js";
import { Badge, Sha, Subject, Time } from "../../parts/values/values.js";
import { Commit } from "./commit.js";
import { foldedRows } from "./story.js";
import { KINDS, Kind } from "../../parts/values/words.js";
import { CHANGES_UNKNOWN } from "../../words.js";

const SHOWN = 80; // digits
const STATES = { passed: "passed", failed: "failed", both: "passed and failed", unknown: "not tested here" };

// Shown if no check has a text for it.
const UNKNOWN = "no run on the failing commit listed its changes and their base commit";
const UNCONNECTED = "run reports do not lead from the fix back to the failure without a gap";
const NOT_LISTED = "Subjects and files are known only for commits that a run listed in its changes.";
const TITLES = {
  resolved: "From the last pass to the fix",
  flake: "The commit and those around it",
  pending: "From the last pass until now",
};

/**
 * The line of commits. `opened`: the commit whose files and runs are shown; `unknown`: one of the address that is
 * none of them; `sought`: the commit that a check led to; `all`: commits alike are not folded.
 */
export function Branch({ evidence, story, orgId, opened, unknown, open, sought, show, all }) {
  useEffect(() => {
    const target = sought && document.getElementById(rowId(sought.sha));
    target?.scrollIntoView({ block: "center" });
    target?.focus({ preventScroll: true });
  }, [sought]);
  const unfold = (sha) => {
    change({ commits: "all" }, { replace: true });
    show(sha);
  };
  const rows = all ? story.map((commit) => ({ commit })) : foldedRows(story, opened);
  return html`<${Section} title=${TITLES[evidence.failure.label]}>
    <${Notes} evidence=${evidence} story=${story} />
    ${unknown && html`<p role="status"><code>${shortened(unknown, SHOWN)}</code> is none of the commits around this failure. Choose one of
      these.</p>`}
    <ol class="line">${rows.map(({ commit, folded }) =>
      folded
        ? html`<${Fold} key=${folded[0].sha} commits=${folded} unfold=${unfold} />`
        : html`<${Row} key=${commit.sha} ...${{ evidence, orgId, commit, open }} opened=${commit.sha === opened} />`,
    )}</ol>
  <//>`;
}

function Row({ evidence, orgId, commit, opened, open }) {
  const { sha, change: content, ran, state, marks, suspect, range } = commit;
  const detail = `detail-${sha}`;
  const how = html`<span class="state">${STATES[state]}${ran ? ` in ${counted(ran.runsTotal, "run")}` : ""}</span>`;
  return html`<li class=${`commit is-${state}${suspect ? " suspect" : ""}${opened ? " opened" : ""}`} data-sha=${sha}>
    <${Dot} state=${state} />
    <div class="commit-line">
      <button type="button" id=${rowId(sha)} class="subject" aria-expanded=${opened ? "true" : "false"} aria-controls=${detail}
        onClick=${() => open(opened ? null : sha)}>${content ? html`<${Subject} text=${content.subject} />` : how}</button>
      ${marks.map(({ text, kind }) => html`<${Badge} key=${text} kind=${kind}>${text}<//>`)}
      ${!content && html`<${Sha} sha=${sha} repo=${evidence.failure.repoKey} /> <span class="quiet"><${When} ran=${ran} /></span>`}
    </div>
    ${content && html`<div class="commit-facts">
      <${Sha} sha=${sha} repo=${evidence.failure.repoKey} /><${PullLink} repo=${evidence.failure.repoKey} subject=${content.subject} />
      ${how}
      <span class="quiet"><${When} content=${content} ran=${ran} /></span>
      <span class="quiet">${range}</span>
      <${Counts} content=${content} />
    </div>`}
    <div id=${detail} class="commit-detail" hidden=${!opened}>
      ${opened && html`<${Commit} ...${{ evidence, orgId, commit }} />`}
    </div>
  </li>`;
}

function Fold({ commits, unfold }) {
  const [{ sha, state }] = commits;
  return html`<li class=${`commit is-${state} folded`}>
    <${Dot} state=${state} />
    <button type="button" onClick=${() => unfold(sha)}>${counted(commits.length, "more commit")}, ${STATES[state]}</button>
  </li>`;
}

function When({ content, ran }) {
  if (content?.committedAt) return html`committed <${Time} at=${content.committedAt} />`;
  return ran?.runs.length ? html`tested <${Time} at=${ran.runs[0].startedAt} />` : null;
}

/** How many files it changed, and of which kinds; the files with a kind are always listed. */
function Counts({ content: { files, filesTotal, filesTruncated } }) {
  const kinds = KINDS.filter((kind) => files.some((file) => file.kind === kind));
  return html`<span class="counts">
    ${filesTotal > 0 && html`<span>${counted(filesTotal, "file")}</span>`}
    ${kinds.map((kind) => html`<${Kind} key=${kind} kind=${kind} />`)}
    ${filesTruncated && html`<span class="quiet">not fully reported</span>`}
  </span>`;
}

/** A state, by shape as well as colour: a tick, a cross, both, or an empty ring. */
function Dot({ state }) {
  return html`<svg class="dot" viewBox="0 0 20 20" aria-hidden="true">
    <circle cx="10" cy="10" r="8" />
    ${state === "passed" && html`<path d="M6 10.5l3 3 5-6" />`}
    ${state === "failed" && html`<path d="M6.5 6.5l7 7m0-7l-7 7" />`}
    ${state === "both" && html`<path d="M6 10h8M10 6v8" />`}
  </svg>`;
}

/** What is not in the drawing, and why. */
function Notes({ evidence, story }) {
  const { timeline, timelineTotal, underTest, underTestTotal, beforeFix, beforeFixTotal, resolved, checks } = evidence;
  const found = (reason) => checks.find((check) => check.reason === reason && check.decided)?.found;
  const notes = [
    timelineTotal > timeline.length &&
      `Of ${count(timelineTotal)} commits that ran the test ${count(timeline.length)} are shown: the first, the last and` +
        " those around the failure.",
    underTest === null && `${CHANGES_UNKNOWN}: ${found("changes_unknown") ?? UNKNOWN}.`,
    underTest && underTestTotal > underTest.length && cut(underTest, underTestTotal, "under test"),
    resolved?.fix && beforeFix === null &&
      `The changes before the fix are unknown: ${found("fix_unconnected") ?? UNCONNECTED}.`,
    beforeFix && beforeFixTotal > beforeFix.length && cut(beforeFix, beforeFixTotal, "before the fix"),
    story.some(({ change: content }) => !content) && NOT_LISTED,
  ].filter(Boolean);
  const kindless = story.some(({ change: content }) => content?.files.some(({ kind }) => kind === null));
  if (notes.length === 0 && !kindless) return null;
  return html`<ul class="notes">
    ${notes.map((text) => html`<li key=${text}>${text}</li>`)}
    ${kindless && html`<li>No file has a kind: the product’s firmware and harness paths are not configured. Configure them with
      ${" "}<code>hwci suite-config apply hwci.toml</code>.</li>`}
  </ul>`;
}

function cut(shown, total, where) {
  return `Of ${counted(total, "commit")} ${where} ${count(shown.length)} are shown, those with firmware or harness files first.`;
}

function rowId(sha) {
  return `commit-${sha}`;
}
