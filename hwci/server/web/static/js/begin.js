// SPDX-License-Identifier: Apache-2.0
// A page that needs a sign-in renews it while its other modules are still on their way: they ask for the
// token when they are there, and are told then what may have gone wrong.

import { accessToken } from "./session.js";

if (window.location.pathname.startsWith("/orgs/")) accessToken().catch(() => {});
