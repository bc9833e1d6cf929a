// SPDX-License-Identifier: Apache-2.0
// What may have broken a test: a commit, or the range that holds it, each with its subject.

import { counted } from "../../format.js";
import { html } from "../../html.js";
import { Sha, Subject } from "./values.js";

const SHOWN_AT_ONCE = 3; // commits of a range; longer ones unfold

/** The commits, `range` as the API has them; `repo`: their repository. */
export function Suspects({ range, repo }) {
  if (!range) return html`<span class="quiet">unknown</span>`;
  const { commits } = range;
  if (commits.length === 1) return html`<${Commit} commit=${commits[0]} repo=${repo} />`;
  return html`<details open=${commits.length <= SHOWN_AT_ONCE}>
    <summary>one of ${counted(commits.length, "firmware commit")}</summary>
    <ul class="commits">${commits.map((commit) => html`<li key=${commit.sha}><${Commit} commit=${commit} repo=${repo} /></li>`)}</ul>
  </details>`;
}

function Commit({ commit, repo }) {
  return html`<${Sha} sha=${commit.sha} repo=${repo} /> <${Subject} text=${commit.subject} repo=${repo} />`;
}
