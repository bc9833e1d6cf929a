// SPDX-License-Identifier: Apache-2.0
// Confirm, Dismiss and Reset in the tables of resolved failures (spec, "Review of a resolved failure").
// The row shows the answer of the API, then the whole page is asked for again.

import { addressOf } from "../../address.js";
import { counted, sentence } from "../../format.js";
import { html, useEffect, useRef, useState } from "../../html.js";
import { useDraft } from "../../parts/form/draft.js";
import { Refused } from "../../parts/reviews/refused.js";
import { UNDO } from "../../parts/reviews/review.js";
import { useShifting } from "../../parts/reviews/shifting.js";
import { LAST, useTogether } from "../../parts/reviews/together.js";

/** The way to the failures that the checks could not decide, which a person may; reviewed, they are no longer ambiguous. */
export function ToReview({ orgId, scope, total, before = "" }) {
  if (total === 0) return null;
  const review = addressOf("review", { orgId }, scope);
  return html`<p class="to-review quiet">${before}${counted(total, "ambiguous failure")}: <a href=${review}>Review by cause</a></p>`;
}

/**
 * The reviews of a page. Return `{may, turn, message, renew(), toast, now(row), review(key, failures, action, written),
 * together, draft, isUnderWay()}`: `review` does nothing if the rows have just moved; `draft`: what is written about causes;
 * `now`: a row as it is since its review; `turn` counts how often all had to be asked for again; `message` tells what happened
 * last, and offers to undo it; `toast`: the reference to where it stands.
 */
export function useReviews(orgId, page, may, me) {
  const [reviewed, setReviewed] = useState({}); // by id, until the new page holds them
  const [turn, setTurn] = useState(0);
  const [message, setMessage] = useState("");
  const toast = useRef(null);
  const draft = useDraft(me);
  const { shifted, isSettled } = useShifting();
  useEffect(() => {
    setReviewed({});
    if (message) shifted();
  }, [page.data]);
  const renew = () => {
    page.again();
    setTurn((was) => was + 1);
  };
  const together = useTogether({
    orgId,
    me,
    changed: ({ key, action, written, words }, items) => {
      if (written) (action === UNDO ? draft.giveBack : draft.clear)(key, written);
      setReviewed((was) => ({ ...was, ...Object.fromEntries(items.map((one) => [one.id, one])) }));
      setMessage(items.length > 1 ? sentence(words) : `${items[0].testId} on ${items[0].boxKey}: ${words}`);
      renew();
    },
    passed: ({ message: why }) => {
      setMessage(why); // its row may go away
      renew();
    },
  });
  const review = (key, failures, action, written) => {
    if (!isSettled()) return;
    setMessage("");
    together.review(key, failures, action, written);
  };
  // The button goes away, and with it the focus.
  const undo = () => {
    toast.current.focus({ preventScroll: true });
    together.undo();
  };
  const last = together.stateOf(LAST);
  const shown = (message || last.doing || last.fault) && html`${message}
    ${together.undo && html` <button type="button" onClick=${undo}>Undo</button>`}
    <${Refused} ...${{ together, id: LAST, focus: toast }} />`;
  const now = (row) => reviewed[row.id] ?? row;
  return { may, turn, message: shown, toast, renew, review, together, draft, now, isUnderWay: together.isUnderWay };
}
