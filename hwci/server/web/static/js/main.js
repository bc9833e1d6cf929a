// SPDX-License-Identifier: Apache-2.0
// Where the dashboard starts: who is signed in, which page the address means, and the frame around it.

import { followLinks } from "./address.js";
import { App, loadPage } from "./app.js";
import { begun } from "./begin.js";
import { html, render } from "./html.js";

followLinks();
const PAGE_MILLISECONDS = 5_000;
const soon = new Promise((resume) => window.setTimeout(resume, PAGE_MILLISECONDS));
// A page that does not load, or not soon, shows so in its place.
Promise.all([begun, Promise.race([loadPage().catch(() => {}), soon])]).then(() => render(html`<${App} />`, document.getElementById("app")));
