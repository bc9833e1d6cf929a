// SPDX-License-Identifier: Apache-2.0
// Confirm, Dismiss and Reset on a failure's page (spec, "Review of a resolved failure"), what the reviewer writes
// about it, and its result. Members see the result and no buttons.

import { addressOf } from "../../address.js";
import { sentence } from "../../format.js";
import { html, useRef, useState } from "../../html.js";
import { useDraft } from "../../parts/form/draft.js";
import { daysBackTo } from "../../parts/frame/scope.js";
import { Refused } from "../../parts/reviews/refused.js";
import { CONFIRM, fittingActions } from "../../parts/reviews/review.js";
import { useTogether } from "../../parts/reviews/together.js";
import { ReviewWords, isAboutWords } from "../../parts/reviews/words.js";

/** The review of a resolved failure. `answer`: that of the page, which gets the new state at once; `me`: the reader. */
export function Review({ evidence, answer, orgId, me, reviewer }) {
  const { failure: { id }, resolved } = evidence;
  const [done, setDone] = useState("");
  const draft = useDraft(me);
  const place = useRef(null);
  const together = useTogether({
    orgId,
    me,
    changed: ({ words }, [now]) => {
      draft.clear(id);
      if (now.label === "resolved") answer.put({ ...evidence, resolved: { ...resolved, ...now } });
      else answer.again(); // without its review it is a flake or pending, and has another page
      setDone(sentence(words));
      place.current?.focus(); // the button that was pressed is gone
    },
    passed: answer.again,
  });
  const { doing, fault, lost } = together.stateOf(id);
  const act = (action) => {
    setDone("");
    together.review(id, [resolved], action, draft.of(id));
  };
  const fitting = fittingActions([resolved]);
  const confirm = fitting.some(({ name }) => name === CONFIRM) && (() => act(CONFIRM));
  return html`<div class="review" role="group" aria-label="Review" tabindex="-1" ref=${place}>
    ${reviewer && html`<${ReviewWords} ...${{ draft, id, fault, confirm }} anew=${resolved.review} />`}
    ${reviewer && fitting.map(
      ({ name, title, hint }) => html`<button key=${name} type="button" title=${hint}
        aria-disabled=${doing || lost ? "true" : undefined} onClick=${() => act(name)}>${title}</button>`,
    )}
    <a href=${ofCause(orgId, resolved)}>${reviewer ? (resolved.review ? "Reset" : "Review") : "See"} its whole cause</a>
    <span role="status">${done}</span>
    ${!isAboutWords(fault) && html`<${Refused} ...${{ together, id, focus: place }} />`}
  </div>`;
}

/** Where the cause of a failure stands in Review. */
function ofCause(orgId, { id, review, firstFailure: { sha, startedAt } }) {
  const query = { days: daysBackTo(startedAt), list: review ? "reviewed" : null, "review.search": sha, cause: id };
  return addressOf("review", { orgId }, query);
}
