// SPDX-License-Identifier: Apache-2.0
// The token of the invitation whose link was opened last in this tab: in memory only, from the set-up page
// over the sign-in to the page of invitations. A reload forgets it; the link can be opened again.

let token = null;

/** Keep the token of a link. */
export function keepInvitation(found) {
  token = found;
}

/** Return the token, or null if no link was opened. */
export function invitation() {
  return token;
}
