// SPDX-License-Identifier: Apache-2.0
// Reviewing failures, one or those of one cause together: all of them or none, once, and reset as one. What the server
// is asked says which reviews the reader saw, so that nothing is written over what another person did meanwhile; how it is
// asked, and what became of it, `outcome.js` decides.

import { useRef, useState } from "../../html.js";
import { forgetWaiting } from "../frame/waiting.js";
import { outcome, sent } from "./outcome.js";
import { RESET, UNDO, changedBy, commonReview, stepsBackTo, stepsOf, told } from "./review.js";

/** The state of undoing the last review has this key; another review may be under way beside it. */
export const LAST = "last";

/** What is done of a review while it is looked at what became of it. */
export const LOOKING = "look";

/** What reviewing failures takes. `written`: the note and issue of the reader. */
function reviewsOf(failures, action, written) {
  return changedBy(action, failures).flatMap((now) =>
    stepsOf(action, now).map((step) => ({ failureId: now.id, action: step, seenReviewAt: now.review?.at ?? null, ...written })),
  );
}

/** What gives failures back the review that they had `before`, or none. `items`: as they are now. */
function restoring(before, items) {
  return items.flatMap((now) => {
    const { review } = before.find(({ id }) => id === now.id);
    const words = { ...(review?.note && { note: review.note }), ...(review?.issue && { issue: review.issue }) };
    return stepsBackTo(review, now).map((action) => ({ failureId: now.id, action, seenReviewAt: now.review?.at ?? null, ...words }));
  });
}

/**
 * Reviews of failures. Return `{review(key, failures, action, written), undo, look(key), stateOf(key), isUnderWay()}`: `key`
 * names what is reviewed as one; `review` returns whether it sends anything, as the action may change nothing; a state is
 * `{doing, fault, lost}`, doing being the action or `LOOKING`, lost a request without an answer; `undo()` gives each failure that
 * was reviewed last the review back that it had before, or none; it is null if there is nothing to undo. `me`: the reader.
 * `changed({key, action, written, words}, items)`: failures are like this now by the action, or by `UNDO` of one with which that
 * was `written`, and `words` tell it; `passed(fault)`: they are no longer as the reader saw them.
 */
export function useTogether({ orgId, me, changed, passed }) {
  const [states, setStates] = useState({});
  const [last, setLast] = useState(null);
  const busy = useRef(new Set()); // at once, before anything is drawn
  const put = (job, state) => setStates((was) => ({ ...was, [placeOf(job)]: state }));
  const made = (job, items) => {
    setStates((was) => ({ ...was, [placeOf(job)]: {}, [LAST]: {} }));
    const { key, action, written, before } = job;
    setLast(action === UNDO ? null : { ...job, items });
    const words = told(action, items, action === RESET ? commonReview(before).others : []);
    forgetWaiting();
    changed({ key, action, written, words }, items);
  };
  const end = (job, /** @type {import("./outcome.js").Outcome} */ { items, fault, isPassed, lost }) => {
    if (items) return made(job, items);
    put(job, { fault, lost });
    if (isPassed) passed(fault);
  };
  const alone = async (place, work) => {
    if (busy.current.has(place)) return;
    busy.current.add(place);
    await work().finally(() => busy.current.delete(place));
  };
  const send = (job) =>
    alone(placeOf(job), async () => {
      put(job, { doing: job.action });
      end(job, await sent(job, orgId, me));
    });
  const look = (key) =>
    alone(key, async () => {
      const { lost } = states[key];
      put(lost, { doing: LOOKING, lost });
      end(lost, await outcome(lost, orgId, me));
    });
  const review = (key, failures, action, written) => {
    const reviews = reviewsOf(failures, action, written);
    const sends = reviews.length > 0 && !states[key]?.lost;
    if (sends) send({ key, action, written, before: failures, reviews });
    return sends;
  };
  const back = last && { ...last, action: UNDO, before: last.items, reviews: restoring(last.before, last.items) };
  const undo = back && (() => !states[LAST]?.lost && send(back));
  return { review, undo, look, stateOf: (key) => states[key] ?? {}, isUnderWay: () => busy.current.size > 0 };
}

function placeOf({ key, action }) {
  return action === UNDO ? LAST : key;
}
