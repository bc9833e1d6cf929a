// SPDX-License-Identifier: Apache-2.0
// The changed files of a commit in one line: of each kind the first, and how many more.

import { count } from "../../format.js";
import { html } from "../../html.js";
import { FileLink } from "./links.js";
import { Kind } from "./words.js";

/** The line. `commit`: as the API has it in short; `repo`: its repository. */
export function FilesInShort({ commit: { sha, files, filesTruncated }, repo }) {
  const none = files.length === 0 && !filesTruncated && "no files changed";
  return html`<span class="under">${none}
    ${files.map(({ kind, total, first }) => html`<span key=${kind} class="files-of-kind">
      ${kind && html`<${Kind} kind=${kind} /> `}<${FileLink} ...${{ repo, sha, path: first }} />${
        total > 1 && ` and ${count(total - 1)} more`}</span> `)}
    ${filesTruncated && "Its files were not fully reported."}</span>`;
}
