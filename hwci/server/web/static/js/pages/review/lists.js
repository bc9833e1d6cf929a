// SPDX-License-Identifier: Apache-2.0
// The two lists of the page Review: what each asks the API for, and which causes stay in it.

export const TO_REVIEW = {
  name: null,
  title: "To review",
  asks: { toReview: true },
  holds: ({ failures }) => failures.some(({ review }) => !review),
};
export const REVIEWED = {
  name: "reviewed",
  title: "Reviewed",
  asks: { reviewed: true },
  holds: ({ failures }) => failures.some(({ review }) => review),
};
