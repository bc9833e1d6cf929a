// SPDX-License-Identifier: Apache-2.0
// The page to show after a sign-in at a provider (contract, "Auth"): stored in this tab until the dashboard is
// back, and used once.

import { oursOnly } from "./address.js";
import { keep, kept } from "./kept.js";

const WANTED = "hwci-wanted";

/** Keep the address to go to. */
export function keepWanted(address) {
  keep("sessionStorage", WANTED, address);
}

/** Return the kept address and forget it, or null if it is none of our pages. */
export function takeWanted() {
  const address = kept("sessionStorage", WANTED);
  keep("sessionStorage", WANTED, null);
  return oursOnly(address);
}
