// SPDX-License-Identifier: Apache-2.0
// What may have broken a test: a commit, or the range that holds it, each with its subject.

import { counted } from "../../format.js";
import { html } from "../../html.js";
import { Sha, Subject } from "./values.js";

const SHOWN_AT_ONCE = 3; // commits of a range; longer ones unfold

/** The commits, `range` as the API has them; `repo`: their repository; `about(sha)`: what is said below each, if anything. */
export function Suspects({ range, repo, about = nothing }) {
  if (!range) return html`<span class="quiet">unknown</span>`;
  const { commits } = range;
  if (commits.length === 1) return html`<${Commit} commit=${commits[0]} repo=${repo} about=${about} />`;
  return html`<details open=${commits.length <= SHOWN_AT_ONCE}>
    <summary>one of ${counted(commits.length, "firmware commit")}</summary>
    <ul class="commits">${commits.map((commit) => html`<li key=${commit.sha}><${Commit} ...${{ commit, repo, about }} /></li>`)}</ul>
  </details>`;
}

function Commit({ commit: { sha, subject }, repo, about }) {
  return html`<${Sha} sha=${sha} repo=${repo} /> <${Subject} text=${subject} repo=${repo} />${about(sha)}`;
}

function nothing() {
  return null;
}
