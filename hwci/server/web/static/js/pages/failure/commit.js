// SPDX-License-Identifier: Apache-2.0
// An opened commit of the line: its files by kind, and each run of the test on it.

import { count, duration, short } from "../../format.js";
import { html } from "../../html.js";
import { FileLink } from "../../parts/values/links.js";
import { PlainTable } from "../../parts/table/table.js";
import { Message, Time } from "../../parts/values/values.js";
import { Kind, RunLink, boards, log, outcomeBadge, verdict } from "../../parts/values/words.js";

const UNKNOWN_FILES = "Its changed files are unknown.";

/** The files and runs of a commit. */
export function Commit({ evidence, orgId, commit }) {
  const { sha, change: content, ran } = commit;
  const lookedAt = new Set(evidence.checks.filter((check) => check.commit === sha).map((check) => check.file));
  return html`
    ${content
      ? html`<${Files} ...${{ content, lookedAt, sha }} repo=${evidence.failure.repoKey} />`
      : html`<p class="quiet">${UNKNOWN_FILES}</p>`}
    ${ran
      ? html`<${Runs} ...${{ ran, evidence, orgId, sha }} />`
      : html`<p class="quiet">The test did not run on this commit on ${evidence.failure.boxKey}.</p>`}
  `;
}

function Files({ content, lookedAt, sha, repo }) {
  const hidden = content.filesTotal - content.files.length;
  if (content.filesTotal === 0 && !content.filesTruncated) return html`<p class="quiet">It changed no files.</p>`;
  return html`<ul class="files" aria-label="Files">
      ${content.files.map(
        ({ path, kind }) => html`<li key=${path} class=${lookedAt.has(path) ? "looked-at" : undefined}>
          ${kind && html`<${Kind} kind=${kind} />`} <${FileLink} ...${{ repo, sha, path }} />
          ${lookedAt.has(path) && html` <span class="quiet">named by a check</span>`}
        </li>`,
      )}
    </ul>
    ${hidden > 0 && html`<p class="quiet">and ${count(hidden)} more not shown</p>`}
    ${content.filesTruncated && html`<p class="quiet">The files of this commit were not fully reported.</p>`}`;
}

function Runs({ ran, evidence, orgId, sha }) {
  const columns = [
    { key: "startedAt", title: "Start", cell: (run) => html`<${Time} at=${run.startedAt} />` },
    { key: "run", title: "Run", fixed: true, cell: (run) => html`<${RunLink} run=${run} orgId=${orgId} />` },
    { key: "workflow", title: "Workflow", cell: (run) => workflow(run, evidence.failure) },
    { key: "outcome", fields: ["outcome", "message"], title: "Outcome", cell: outcome },
    { key: "attempts", title: "Attempts", numeric: true, cell: (run) => count(run.attempts) },
    { key: "durationS", title: "Duration", numeric: true, cell: (run) => duration(run.durationS, true) },
    { key: "verdict", title: "Harness verdict", cell: (run) => (run.outcome === "fail" ? verdict(run.verdict) : null) },
    ...boards(ran.runs),
  ];
  return html`<${PlainTable} name="runs-of-a-commit" columns=${columns} rows=${ran.runs} label=${`Runs of ${short(sha)}`}
      rowKey=${(run) => `${run.runId} ${run.runAttempt} ${run.workflow}`} />
    ${ran.runsTotal > ran.runs.length && html`<p class="quiet">The latest ${count(ran.runs.length)} of ${count(ran.runsTotal)} runs.</p>`}`;
}

function outcome({ outcome: ended, message, logUrl }) {
  return html`${outcomeBadge(ended)}${log(logUrl)}<${Message} text=${message} />`;
}

function workflow({ workflow: name, branch }, failure) {
  return html`${name} ${branch !== failure.branch && html`<span class="quiet">on ${branch}</span>`}`;
}
