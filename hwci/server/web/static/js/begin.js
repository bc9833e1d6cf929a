// SPDX-License-Identifier: Apache-2.0
// A page that needs a sign-in renews it while its other modules are still on their way: they ask for the
// token when they are there, and are told then what may have gone wrong.

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
