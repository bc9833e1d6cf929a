// SPDX-License-Identifier: Apache-2.0
// The error that pages get when the server refuses or does not answer.

const RETRIED = new Set([0, 408, 425, 429]); // and all of 500 and above
const AGAIN_WITHIN_SECONDS = 86_400; // a timer of a browser takes no more than some weeks, and then ends at once

/**
 * What went wrong, in words for a person. `status` is 0 if no answer came. `issues`: faults of fields.
 * `retryAfter`: the seconds after which to ask again, a day at most, or null.
 */
export class ApiError extends Error {
  constructor(status, message, requestId, { issues = [], retryAfter = null } = {}) {
    super(message);
    this.status = status;
    this.requestId = requestId;
    this.issues = issues;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later. */
  get isPassing() {
    return RETRIED.has(this.status) || this.status >= 500;
  }
}

const ASK_AGAIN_SECONDS = 15; // after no answer: a server that is started again takes a few
export const PATIENCE_MILLISECONDS = 90_000; // a server that takes longer gives no answer

/** A signal that ends a request without an answer. */
export function patience(milliseconds = PATIENCE_MILLISECONDS) {
  return AbortSignal.timeout(milliseconds);
}

/** What a promise gives, unless the signal ends the waiting for it before. */
export function within(signal, promise) {
  const ended = new Promise((_, fail) => {
    const end = () => fail(cutShort(signal.reason));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end);
  });
  return Promise.race([promise, ended]);
}

/** There is no sign-in in this browser. */
export function signedOut() {
  return new ApiError(401, "You are signed out", null);
}

/** No answer came. */
export function unanswered() {
  const message = "The server did not answer. Check your connection, then try again";
  return new ApiError(0, message, null, { retryAfter: ASK_AGAIN_SECONDS });
}

/** Return the error of an answer that did not come whole: the request was aborted, or nothing came. */
export function cutShort(fault) {
  return fault.name === "AbortError" ? fault : unanswered();
}

/** Return the error of an answer that refuses. */
export async function refusal(response) {
  const requestId = response.headers.get("x-request-id");
  const retryAfter = secondsOf(response.headers.get("retry-after"));
  try {
    const body = await response.json();
    const issues = body.issues ?? [];
    return new ApiError(response.status, body.message ?? response.statusText, requestId, { issues, retryAfter });
  } catch {
    return new ApiError(response.status, response.statusText || "The server gave no reason", requestId, { retryAfter });
  }
}

/** Our servers write seconds; a proxy between may write a date. */
function secondsOf(header) {
  if (header === null) return null;
  const seconds = /^\d{1,9}$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.min(AGAIN_WITHIN_SECONDS, Math.max(0, Math.ceil(seconds)));
}
