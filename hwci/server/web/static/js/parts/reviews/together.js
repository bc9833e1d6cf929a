// SPDX-License-Identifier: Apache-2.0
// Reviewing failures of one cause together: all of them or none, once, and undone as one. What the server is asked
// says which reviews the reader saw, so that nothing is written over what another person did meanwhile; and after no
// answer it is looked at what became of it before anything is sent again.

import { get, post } from "../../api.js";
import { useRef, useState } from "../../html.js";

const REAL = "real_fw_bug";
const AMBIGUOUS = "ambiguous";

// The spec's table, for each action and class; a failure that an action does not fit stays as it is.
const STEPS = {
  confirm: (now) => (now.class === REAL ? [] : ["confirm"]),
  dismiss: (now) => (now.class === REAL ? ["dismiss"] : now.class === AMBIGUOUS ? ["confirm", "dismiss"] : []),
};

/** What reviewing failures takes. `written`: the note and issue of the reader. */
export function reviewsOf(failures, action, written = {}) {
  return failures.flatMap((now) =>
    STEPS[action](now).map((step) => ({ failureId: now.id, action: step, seenReviewAt: now.review?.at ?? null, ...written })),
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
 * Reviews of several failures. Return `{review(key, failures, action, written), undo(), look(key), stateOf(key), last}`:
 * `key` names what is reviewed as one; a state is `{doing, fault, lost}`, lost being a request without an answer; `last`
 * is what can be undone, `{key, items}`. `me`: the reader; `changed(key, items, isUndo)`: failures are like this
 * now; `passed(key)`: another person reviewed them.
 */
export function useTogether({ orgId, me, changed, passed }) {
  const [states, setStates] = useState({});
  const [last, setLast] = useState(null);
  const busy = useRef(false); // at once, before anything is drawn
  const put = (key, state) => setStates((was) => ({ ...was, [key]: state }));
  const made = (job, items) => {
    put(job.key, {});
    setLast(job.isUndo ? null : { key: job.key, before: job.before, items });
    changed(job.key, items, job.isUndo);
  };
  const refused = (job, fault) => {
    if (fault.isPassing) return put(job.key, { lost: job, fault });
    put(job.key, { fault });
    if (fault.status === 409 || fault.status === 404) passed(job.key);
  };
  const alone = async (work) => {
    if (busy.current) return;
    busy.current = true;
    await work();
    busy.current = false;
  };
  const send = (job) =>
    alone(async () => {
      put(job.key, { doing: true });
      try {
        made(job, (await post(`/api/orgs/${orgId}/ci-reviews`, { reviews: job.reviews })).items);
      } catch (fault) {
        refused(job, fault);
        if (fault.isPassing) await seen(job);
      }
    });
  // All are reviewed or none: one of them tells. This request may have come first, or another person's.
  const seen = async (job) => {
    const [{ failureId, seenReviewAt }] = job.reviews;
    const { action } = job.reviews.findLast((one) => one.failureId === failureId);
    try {
      const { resolved } = await get(`/api/orgs/${orgId}/ci-failures/${failureId}`);
      const review = resolved?.review ?? null;
      if ((review?.at ?? null) === seenReviewAt) return put(job.key, { fault: new Error("It was not reviewed. Try again.") });
      const isOurs = action === "reset" ? review === null : review?.by.id === me.user.id && review.action === action;
      if (isOurs) return made(job, job.before.filter(reviewedBy(job)).map((one) => ({ ...one, ...shownOf(resolved) })));
      put(job.key, { fault: new Error("Somebody else reviewed it meanwhile. Nothing of yours was changed.") });
      passed(job.key);
    } catch (fault) {
      put(job.key, { lost: job, fault });
    }
  };
  const look = (key) => alone(() => seen(states[key].lost));
  const review = (key, failures, action, written) => {
    const reviews = reviewsOf(failures, action, written);
    if (reviews.length > 0 && !states[key]?.lost) send({ key, before: failures, reviews });
  };
  const undo = () => last && send({ key: last.key, before: last.items, reviews: undoing(last.before, last.items), isUndo: true });
  return { review, undo, look, last, stateOf: (key) => states[key] ?? {} };
}

function reviewedBy({ reviews }) {
  const ids = new Set(reviews.map(({ failureId }) => failureId));
  return ({ id }) => ids.has(id);
}

/** What a review changes of a failure, of the answer about another one that got the same. */
function shownOf(resolved) {
  if (!resolved) return { review: null, status: "Automatic" };
  const { review, status, class: shown, reason, reasonText } = resolved;
  return { review, status, class: shown, reason, reasonText };
}
