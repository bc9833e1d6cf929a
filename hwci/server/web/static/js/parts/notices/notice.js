// SPDX-License-Identifier: Apache-2.0
// What a view shows without data: it waits, it failed, or there is none.

import { timeOfDay } from "../../format.js";
import { html, useEffect, useMemo, useState } from "../../html.js";
import { RefusedParameters, refusedParameters } from "./faulty_address.js";

const LATE_MILLISECONDS = 10_000;
const LATE = "The server has not answered yet; still waiting";

/** Loading; after a while it says that the answer is late. */
export function Waiting() {
  return html`<p class="waiting" role="status"><${Loading} /></p>`;
}

/** Where something is being done: nothing at first, after a while that the answer is late. */
export function StillWaiting() {
  return html`<span class="quiet" role="status">${useLate() && LATE}</span>`;
}

function Loading() {
  return useLate() ? LATE : "Loading…";
}

function useLate() {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(setLate, LATE_MILLISECONDS, true);
    return () => window.clearTimeout(timer);
  }, []);
  return late;
}

/**
 * Something failed: what, and what to do next (the children, if the page knows more). `again` repeats the
 * request, if that may help; `table`: the name in addresses of the table that was asked for.
 */
export function Failed({ error, again, table, children }) {
  const refused = useMemo(() => refusedParameters(error, table), [error]);
  const mayHelp = error.isPassing !== false;
  return html`<div class="failed" role="alert">
    ${refused.length > 0 ? html`<${RefusedParameters} parameters=${refused} />` : html`<p>${error.message}</p>`}
    ${error.retryAfter > 0 && html`<${Until} error=${error} />`}
    ${children}
    ${error.requestId && html`<p class="request">Request ${error.requestId}</p>`}
    ${again && mayHelp && html`<button type="button" onClick=${again}>Try again</button>`}
  </div>`;
}

/** When the server is asked again (asking.js): as a time of day: a countdown would be out of date when it is read. */
function Until({ error }) {
  const until = useMemo(() => new Date(Date.now() + 1000 * error.retryAfter), [error]);
  return html`<p>This page asks again by itself at ${timeOfDay(until)}.</p>`;
}

/** There is no data yet; the children are what to do. */
export function Empty({ children }) {
  return html`<p class="empty">${children}</p>`;
}

/** A newer answer is on its way; seen only when it takes its time. */
export function Renewing({ on }) {
  return html`<span class="renewing" aria-hidden="true">${on && html`<${Loading} />`}</span>`;
}
