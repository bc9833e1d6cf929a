// SPDX-License-Identifier: Apache-2.0
// Where somebody wanted to go who was sent away to sign in at a provider (contract, "Auth"): kept in this
// tab until the first page is there again, and taken once.

import { oursOnly } from "./address.js";
import { keep, kept } from "./kept.js";

const WANTED = "hwci-wanted";

/** Keep where to go. */
export function keepWanted(address) {
  keep("sessionStorage", WANTED, address);
}

/** Give what was kept, and forget it; null: nothing, or no page of ours. */
export function takeWanted() {
  const address = kept("sessionStorage", WANTED);
  keep("sessionStorage", WANTED, null);
  return oursOnly(address);
}
