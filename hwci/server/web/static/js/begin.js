// SPDX-License-Identifier: Apache-2.0
// A page that needs a sign-in renews it while its other modules are still loading. They ask for the token once
// they are loaded, and get the error then, if there was one.

import { accessToken } from "./session.js";

const DRAWING_WAITS_MILLISECONDS = 40;

const token = /^\/(orgs\/|account)/.test(window.location.pathname) ? accessToken().catch(() => {}) : null;

/**
 * Settled when the sign-in is renewed, or need not be; or is not soon. Drawing keeps a browser busy that
 * could be asking already.
 */
export const begun = Promise.race([
  token,
  new Promise((resume) => window.setTimeout(resume, DRAWING_WAITS_MILLISECONDS)),
]);
