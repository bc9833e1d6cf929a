// SPDX-License-Identifier: Apache-2.0
// How many causes wait for a review: a page that knows says it, and the frame has it beside its link to Review as long as
// that leads to the same period and product.

import { addressOf } from "../../address.js";
import { useEffect, useState } from "../../html.js";
import { takenAlong } from "./scope.js";

const UNKNOWN = { address: null, number: 0 };
let told = UNKNOWN;
/** @type {(now: {address: string | null, number: number}) => void} */
let hear = () => {}; // the frame's: there is one

/** Say how many wait in the period and product of this page, once it knows. */
export function useWaiting(orgId, number) {
  useEffect(() => {
    if (number === undefined) return;
    told = { address: toReview(orgId), number };
    hear(told);
  }, [orgId, number]);
}

/** Return how many wait where the link leads: 0 if unknown. */
export function useWaitingAt(address) {
  const [{ address: known, number }, setTold] = useState(told);
  useEffect(() => {
    hear = setTold;
  }, []);
  return address === known ? number : 0;
}

function toReview(orgId) {
  return addressOf("review", { orgId }, takenAlong("review", orgId));
}
