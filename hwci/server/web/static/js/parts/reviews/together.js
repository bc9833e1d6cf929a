// SPDX-License-Identifier: Apache-2.0
// Reviewing failures, one or those of one cause together: all of them or none, once, and undone as one. What the server
// is asked says which reviews the reader saw, so that nothing is written over what another person did meanwhile; and
// after no answer it is looked at what became of it before anything is sent again.

import { get, post } from "../../api.js";
import { useRef, useState } from "../../html.js";
import { stepsOf } from "./review.js";

/** The state of the last undoing has this key; another review may be under way beside it. */
export const UNDO = "undo";

/** What reviewing failures takes. `written`: the note and issue of the reader. */
export function reviewsOf(failures, action, written = {}) {
  return failures.flatMap((now) =>
    stepsOf(action, now).map((step) => ({ failureId: now.id, action: step, seenReviewAt: now.review?.at ?? null, ...written })),
  );
}

/** What gives failures back the review that they had `before`, or none. `items`: as they are now. */
function undoing(before, items) {
  return items.map(({ id, review }) => {
    const { action = "reset", note, issue } = before.find((one) => one.id === id).review ?? {};
    const words = { ...(note && { note }), ...(issue && { issue }) };
    return { failureId: id, action, seenReviewAt: review.at, ...words };
  });
}

/**
 * Reviews of failures. Return `{review(key, failures, action, written), undo(), look(key), stateOf(key), last}`: `key`
 * names what is reviewed as one; a state is `{doing, fault, lost}`, doing being the action, lost a request without an
 * answer; `last` is what can be undone, if anything. `me`: the reader. A job is `{key, action, before}`, its action `UNDO`
 * if it takes back the last one. `changed(job, items)`: failures are like this now; `passed(fault)`: they are
 * no longer as the reader saw them.
 */
export function useTogether({ orgId, me, changed, passed }) {
  const [states, setStates] = useState({});
  const [last, setLast] = useState(null);
  const busy = useRef(new Set()); // at once, before anything is drawn
  const put = (job, state) => setStates((was) => ({ ...was, [placeOf(job)]: state }));
  const made = (job, items) => {
    setStates((was) => ({ ...was, [placeOf(job)]: {}, [UNDO]: {} }));
    const canUndo = job.action !== UNDO && items.every(({ review }) => review !== null);
    setLast(canUndo ? { ...job, items } : null);
    changed(job, items);
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
        made(job, (await post(`/api/orgs/${orgId}/ci-reviews`, { reviews: job.reviews })).items);
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
      const { failure, resolved } = await get(`/api/orgs/${orgId}/ci-failures/${failureId}`);
      const review = resolved?.review ?? null;
      if ((review?.at ?? null) === seenReviewAt) return put(job, { fault: notMade(why) });
      const isOurs = action === "reset" ? review === null : review?.by.id === me.user.id && review.action === action;
      if (isOurs) return made(job, job.before.filter(reviewedBy(job)).map((one) => ({ ...one, ...shownOf(failure, resolved) })));
      const fault = new Error(`${failure.testId} on ${failure.boxKey}: Somebody else reviewed it meanwhile. Nothing was changed.`);
      put(job, { fault });
      passed(fault);
    } catch (fault) {
      put(job, { lost: job, fault });
    }
  };
  const look = (key) => alone(key, () => seen(states[key].lost));
  const review = (key, failures, action, written) => {
    const reviews = reviewsOf(failures, action, written);
    if (reviews.length > 0 && !states[key]?.lost) send({ key, action, before: failures, reviews });
  };
  const undo = () =>
    last && !states[UNDO]?.lost && send({ ...last, action: UNDO, before: last.items, reviews: undoing(last.before, last.items) });
  return { review, undo, look, last, stateOf: (key) => states[key] ?? {} };
}

function placeOf({ key, action }) {
  return action === UNDO ? UNDO : key;
}

/** `why`: what the server said, if it said anything. */
function notMade(why) {
  const words = why?.status ? `${why.message}. ` : "";
  return Object.assign(new Error(`${words}It was not reviewed. Try again.`), { requestId: why?.requestId });
}

function reviewedBy({ reviews }) {
  const ids = new Set(reviews.map(({ failureId }) => failureId));
  return ({ id }) => ids.has(id);
}

/** What a review changes of a failure, of the answer about another one that got the same. */
function shownOf({ label }, resolved) {
  if (!resolved) return { label, review: null, status: "Automatic" };
  const { review, status, class: shown, reason, reasonText } = resolved;
  return { label, review, status, class: shown, reason, reasonText };
}
