// SPDX-License-Identifier: Apache-2.0
// What a reviewer writes with a review: a note and the link of an issue. Ctrl+Enter there confirms, so that the keyboard
// alone is enough; Enter alone does nothing.

import { count } from "../../format.js";
import { html } from "../../html.js";
import { Field, faultsOf } from "../form/field.js";
import { Key } from "./key.js";

/**
 * The fields. `draft`: of `useDraft`; `id`: what is reviewed; `fault`: with which the review was refused, if it was; `anew`:
 * there is a review, whose words stand elsewhere; `confirm()`: Confirm, where it fits, of so many failures (`number`) at once;
 * `noteKey`: goes to the note.
 */
export function ReviewWords({ draft, id, fault, anew, confirm, number = 1, noteKey }) {
  const faults = wordFaults(fault);
  const written = draft.read(id);
  const write = ({ target }) => draft.write(id, { [target.name]: target.value });
  const press = (event) => {
    if (!confirm || event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat || event.isComposing) return;
    event.preventDefault();
    confirm();
  };
  const keys = confirm && { onKeyDown: press, "aria-keyshortcuts": "Control+Enter Meta+Enter" };
  const field = (name, title, rest) => html`<${Field} key=${name} id=${`${name}-${id}`} name=${name} title=${title} fault=${faults[name]}
    value=${written[name] ?? ""} onInput=${write} ...${rest} ...${keys} />`;
  const hint = html`<span class="by-key">Ctrl+Enter confirms${number > 1 && ` all ${count(number)}`}</span>`;
  const [note, issue] = anew ? ["New note", "New issue link"] : ["Note", "Issue link"];
  const noteTitle = html`${note} (optional)<${Key} of=${noteKey} />`;
  return html`<div class="review-words">${field("note", noteTitle, { maxlength: 1000, hint: confirm && hint })}
    ${field("issue", `${issue} (optional)`, { type: "url", maxlength: 2000, placeholder: "https://" })}</div>`;
}

/** Whether a refusal is about these fields, which show it. */
export function isAboutWords(fault) {
  return Object.keys(wordFaults(fault)).length > 0;
}

/** The faults of note and issue by name; each review of the request has the same. */
function wordFaults(fault) {
  const own = (fault?.issues ?? []).filter(({ path }) => path[1] === "reviews");
  return faultsOf({ issues: own.map(({ path, message }) => ({ path: [path[0], path.at(-1)], message })) });
}
