// SPDX-License-Identifier: Apache-2.0
// What a script can know of the cookie that holds the refresh token (contract, "Auth"): the mark beside
// it, another after each renewal. A page that is left while its renewal is under way leaves a note, a
// cookie too, so that the next page can wait until the mark has changed.

import { cookie, given, keepCookie } from "./cookies.js";

const MARK = "hwci_signed_in";
const NOTE = "hwci_renewing";
const NOTE_SECONDS = 10; // in which an answer still comes to a page that is gone
const LOOK_MILLISECONDS = 25;

/** The mark of this browser's sign-in; undefined if there is no sign-in. */
export function mark() {
  return given(MARK);
}

/** Note that the token with this mark is being used up. */
export function noteRenewal(of) {
  write(of, NOTE_SECONDS);
  cookie(NOTE); // what can be read back is kept, before anything is sent
}

/** Take the note back: the renewal's answer is there, or there will be none. */
export function forgetRenewal() {
  write("", 0);
}

/** Whether there is a note: a page was left while it renewed, and never heard what came of it. */
export function isNoted() {
  return Boolean(cookie(NOTE));
}

/** Wait for the renewal of a page that is gone: a token that is used twice ends every sign-in. */
export async function settled() {
  for (let noted = cookie(NOTE); noted && noted === mark(); noted = cookie(NOTE)) {
    await new Promise((resume) => window.setTimeout(resume, LOOK_MILLISECONDS));
  }
}

function write(value, seconds) {
  keepCookie(NOTE, value, { path: "/", seconds });
}
