// SPDX-License-Identifier: Apache-2.0
// Reviewing failures, one or those of one cause together: all of them or none, once, and reset as one. What the server
// is asked says which reviews the reader saw, so that nothing is written over what another person did meanwhile; and
// after no answer it is looked at what became of it before anything is sent again.

import { get, post } from "../../api.js";
import { useRef, useState } from "../../html.js";
import { PATIENCE_MILLISECONDS, patience } from "../../refusal.js";
import { forgetWaiting } from "../frame/waiting.js";
import { RESET, UNDO, changedBy, commonReview, stepsBackTo, stepsOf, told } from "./review.js";

/** The state of undoing the last review has this key; another review may be under way beside it. */
export const LAST = "last";

/** What is done of a review while it is looked at what became of it. */
export const LOOKING = "look";

const LOOK_MILLISECONDS = 10_000; // with the review itself it takes no longer than any answer

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
  const refused = (job, fault) => {
    put(job, { fault });
    if (fault.status === 409 || fault.status === 404) passed(fault);
  };
  const alone = async (place, work) => {
    if (busy.current.has(place)) return;
    busy.current.add(place);
    await work();
    busy.current.delete(place);
  };
  const send = (job) =>
    alone(placeOf(job), async () => {
      put(job, { doing: job.action });
      try {
        const signal = patience(PATIENCE_MILLISECONDS - LOOK_MILLISECONDS);
        made(job, (await post(`/api/orgs/${orgId}/ci-reviews`, { reviews: job.reviews }, { signal })).items);
      } catch (fault) {
        if (fault.isPassing) await seen(job, fault);
        else refused(job, fault);
      }
    });
  // All are reviewed or none: one of them tells. This request may have come first, or another person's.
  const seen = async (job, why = null) => {
    const [{ failureId, seenReviewAt }] = job.reviews;
    const { action } = job.reviews.findLast((one) => one.failureId === failureId);
    try {
      const { failure, resolved } = await get(`/api/orgs/${orgId}/ci-failures/${failureId}`, {}, { signal: patience(LOOK_MILLISECONDS) });
      const review = resolved?.review ?? null;
      if ((review?.at ?? null) === seenReviewAt) return put(job, { fault: notMade(job, why) });
      const isOurs = action === RESET ? review === null : review?.by.id === me.user.id && review.action === action;
      if (isOurs) return made(job, job.before.filter(reviewedBy(job)).map((one) => ({ ...one, ...shownOf(one, job, failure, resolved) })));
      const fault = new Error(`${failure.testId} on ${failure.boxKey}: Somebody else reviewed it meanwhile. Nothing was changed.`);
      put(job, { fault });
      passed(fault);
    } catch (fault) {
      put(job, { lost: job, fault });
    }
  };
  const look = (key) =>
    alone(key, () => {
      const { lost } = states[key];
      put(lost, { doing: LOOKING, lost });
      return seen(lost);
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

/** What a job does to failures, as a word. */
export function doneBy({ action }) {
  return { [UNDO]: "undone", [RESET]: "reset" }[action] ?? "reviewed";
}

/** `why`: what the server said, if it said anything. */
function notMade(job, why) {
  const words = why?.status ? `${why.message}. ` : "";
  return Object.assign(new Error(`${words}It was not ${doneBy(job)}. Try again.`), { requestId: why?.requestId });
}

function reviewedBy({ reviews }) {
  const ids = new Set(reviews.map(({ failureId }) => failureId));
  return ({ id }) => ids.has(id);
}

/** What a job changed of a failure, of the answer about another one that it changed likewise. */
function shownOf({ id, automatic }, { reviews }, { label }, resolved) {
  const { action } = reviews.findLast((one) => one.failureId === id);
  if (action === RESET) return { ...automatic, label, review: null, status: "Automatic" };
  if (!resolved?.review) return {};
  const { review, status, class: shown, reason, reasonText } = resolved;
  return { label, review, status, class: shown, reason, reasonText };
}
