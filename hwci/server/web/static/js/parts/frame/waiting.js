// SPDX-License-Identifier: Apache-2.0
// How many causes wait for a review: a page that knows says it, and the frame has it beside its link to Review as long as
// that leads to the same period and product.

import { addressOf } from "../../address.js";
import { useEffect, useState } from "../../html.js";
import { takenAlong } from "./scope.js";

const UNKNOWN = { address: null, number: 0 };
let told = UNKNOWN;
let isTelling = false; // a page that knows is shown: it says what reviews change
/** @type {(now: {address: string | null, number: number}) => void} */
let hear = () => {}; // the frame's: there is one

/** Say how many wait in the period and product of this page, once it knows. */
export function useWaiting(orgId, number) {
  useEffect(() => {
    if (number === undefined) return;
    isTelling = true;
    tell({ address: toReview(orgId), number });
    return () => (isTelling = false);
  }, [orgId, number]);
}

/** A review was made: how many wait now is unknown, unless the page says it. */
export function forgetWaiting() {
  if (!isTelling) tell(UNKNOWN);
}

/** Return how many wait where the link leads: 0 if unknown. */
export function useWaitingAt(address) {
  const [{ address: known, number }, setTold] = useState(told);
  useEffect(() => {
    hear = setTold;
  }, []);
  return address === known ? number : 0;
}

function tell(now) {
  told = now;
  hear(now);
}

function toReview(orgId) {
  return addressOf("review", { orgId }, takenAlong("review", orgId));
}
