// SPDX-License-Identifier: Apache-2.0
// Failures of one cause, reviewed in place: what the reader writes about them, and Confirm, Dismiss and Reset.

import { html, useLayoutEffect, useRef } from "../../html.js";
import { useNextButton } from "./next_button.js";
import { Key } from "./key.js";
import { Refused } from "./refused.js";
import { CONFIRM, changedBy, commonReview, fittingActions, reviewedAs } from "./review.js";
import { ReviewWords, isAboutWords } from "./words.js";

/** @type {Record<string, string>} */
const NO_KEYS = {};

/**
 * The fields and the buttons. `name`: of the cause; `together`: of `useTogether`; `draft`: of `useDraft`; `begin`: the
 * reader asked for the fields, and writes at once; `begun()` is called when that is so; `keys`: of the page, by the actions and
 * "note".
 */
export function Answer({ cause: { id, failures }, name, together, review = together.review, draft, keys = NO_KEYS, ...beginning }) {
  const { begin = false, begun = () => {} } = beginning;
  const { doing, fault, lost } = together.stateOf(id);
  const words = useRef(null);
  const { place, leave, press } = useNextButton();
  const may = !doing && !lost;
  const { others } = commonReview(failures);
  // Before the browser draws: the first letter may come sooner.
  useLayoutEffect(() => {
    if (!begin) return;
    words.current.querySelector("input").focus();
    begun();
  }, [begin]);
  const act = (action) => {
    if (!may) return;
    press();
    review(id, failures, action, draft.of(id));
  };
  const anew = failures.some(({ review }) => review);
  const titleOf = (one) => (failures.length > 1 ? one.ofSeveral(changedBy(one.name, failures).length) : one.title);
  const number = changedBy(CONFIRM, failures).length;
  const confirm = number > 0 && (() => act(CONFIRM));
  return html`<div ref=${words}><${ReviewWords} ...${{ draft, id, fault, anew, confirm, number, noteKey: keys.note }} /></div>
    <div class="actions" role="group" aria-label="Review" tabindex="-1" ref=${place} onFocusOut=${leave}>${fittingActions(failures).map(
      (one) => html`<button key=${one.name} type="button" aria-disabled=${may ? undefined : "true"}
        aria-keyshortcuts=${keys[one.name]} aria-label=${`${titleOf(one)}: ${name}`} onClick=${() => act(one.name)}>
        ${titleOf(one)}<${Key} of=${keys[one.name]} /></button>`,
    )}</div>
    ${others.length > 0 && html`<p class="under">Reset leaves as it is: ${reviewedAs(others)}.</p>`}
    ${!isAboutWords(fault) && html`<${Refused} ...${{ together, id, focus: place }} />`}`;
}
