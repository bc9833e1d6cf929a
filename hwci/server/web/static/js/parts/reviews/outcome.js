// SPDX-License-Identifier: Apache-2.0
// What became of a review that was sent: made, refused, or, after no answer, looked at before anything is sent again. It
// shows nothing.

import { get, post } from "../../api.js";
import { PATIENCE_MILLISECONDS, patience } from "../../refusal.js";
import { RESET, UNDO } from "./review.js";

const LOOK_MILLISECONDS = 10_000; // with the review itself it takes no longer than any answer

/** @typedef {{items?: object[], fault?: Error, isPassed?: boolean, lost?: object}} Outcome */

/**
 * Send a job. Return the failures as they are now by it (`items`), or why it was not done (`fault`): they are no longer as the
 * reader saw them (`isPassed`), or nobody knows whether it was (`lost`, the job).
 * @returns {Promise<Outcome>}
 */
export async function sent(job, orgId, me) {
  try {
    const signal = patience(PATIENCE_MILLISECONDS - LOOK_MILLISECONDS);
    return { items: (await post(`/api/orgs/${orgId}/ci-reviews`, { reviews: job.reviews }, { signal })).items };
  } catch (fault) {
    if (fault.isPassing) return outcome(job, orgId, me, fault);
    return { fault, isPassed: fault.status === 409 || fault.status === 404 };
  }
}

/**
 * Look what became of a job, as `sent` returns it. All failures are reviewed or none: one of them tells. This request may have
 * come first, or another person's. `why`: what the server said, if it said anything.
 * @returns {Promise<Outcome>}
 */
export async function outcome(job, orgId, me, why = null) {
  const [{ failureId, seenReviewAt }] = job.reviews;
  const { action } = job.reviews.findLast((one) => one.failureId === failureId);
  try {
    const { failure, resolved } = await get(`/api/orgs/${orgId}/ci-failures/${failureId}`, {}, { signal: patience(LOOK_MILLISECONDS) });
    const review = resolved?.review ?? null;
    if ((review?.at ?? null) === seenReviewAt) return { fault: notMade(job, why) };
    const isOurs = action === RESET ? review === null : review?.by.id === me.user.id && review.action === action;
    if (isOurs) return { items: job.before.filter(reviewedBy(job)).map((one) => ({ ...one, ...shownOf(one, job, failure, resolved) })) };
    const fault = new Error(`${failure.testId} on ${failure.boxKey}: Somebody else reviewed it meanwhile. Nothing was changed.`);
    return { fault, isPassed: true };
  } catch (fault) {
    return { fault, lost: job };
  }
}

/** What a job does to failures, as a word. */
export function doneBy({ action }) {
  return { [UNDO]: "undone", [RESET]: "reset" }[action] ?? "reviewed";
}

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
