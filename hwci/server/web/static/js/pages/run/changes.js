// SPDX-License-Identifier: Apache-2.0
// The changes since the run before, as the reporter found them, with notes on what is missing.

import { counted } from "../../format.js";
import { html, useId, useState } from "../../html.js";
import { FileLink } from "../../parts/values/links.js";
import { Empty } from "../../parts/notices/notice.js";
import { Section } from "../../parts/section.js";
import { Sha, Subject, Time } from "../../parts/values/values.js";

const COMMITS_SHOWN = 20;

/** The section “Changes”. */
export function Changes({ run: { changes, repoKey: repo } }) {
  const [all, setAll] = useState(false);
  if (!changes) {
    return html`<${Section} title="Changes" anchor="changes"><${Empty}>No change list was reported.
      ${" "}Run <code>hwci env</code> in the checkout of the job: it shows each field, and what is missing.<//><//>`;
  }
  const { baseSha, commits, truncated } = changes;
  const shown = all ? commits : commits.slice(0, COMMITS_SHOWN);
  return html`<${Section} title="Changes" total=${commits.length} anchor="changes">
    <p class="base">${baseSha
      ? html`Since <${Sha} sha=${baseSha} repo=${repo} />, which the same workflow tested before on this branch.`
      : html`<span class="quiet">The commit tested before is unknown.</span>`}</p>
    ${commits.length === 0 && html`<${Empty}>No commit came in between.<//>`}
    <ul class="changes">${shown.map((commit) => html`<${Commit} key=${commit.sha} commit=${commit} repo=${repo} />`)}</ul>
    ${shown.length < commits.length &&
      html`<button type="button" onClick=${() => setAll(true)}>Show ${counted(commits.length - shown.length, "more commit")}</button>`}
    ${truncated && html`<p class="quiet">There are more commits; the report lists only these.</p>`}
  <//>`;
}

function Commit({ repo, commit: { sha, subject, committedAt, files, filesTruncated } }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return html`<li>
    <div class="commit-line"><${Sha} sha=${sha} repo=${repo} />
      ${" "}<span class="subject-text"><${Subject} text=${subject} repo=${repo} /></span>
      ${committedAt && html`<span class="quiet"><${Time} at=${committedAt} /></span>`}</div>
    <button type="button" class="fold" aria-expanded=${open ? "true" : "false"} aria-controls=${id}
      onClick=${() => setOpen(!open)}>${filesText(files.length, filesTruncated)}</button>
    <div id=${id} hidden=${!open}>${open && html`<ul class="paths">
      ${files.map((path) => html`<li key=${path}><${FileLink} ...${{ repo, sha, path }} /></li>`)}
    </ul>`}</div>
  </li>`;
}

function filesText(listed, isCut) {
  if (!isCut) return counted(listed, "file");
  return listed === 0 ? "files not reported" : `${counted(listed, "file")}; others were not reported`;
}
