// SPDX-License-Identifier: Apache-2.0
// How a view waits for an answer: what it showed before stays until the new answer is there, a request that
// is no longer needed is aborted, and a request that failed with `Retry-After` is repeated.

import { get } from "./api.js";
import { useCallback, useEffect, useLayoutEffect, useState } from "./html.js";

const LIST_ROWS = 100; // the most that the API gives at once
const PAUSES_SECONDS = [5, 10, 20, 40, 60]; // after no answer, and another one

/**
 * Ask the API while the view is shown, again whenever path, query or `turn` change; a path of null asks nothing.
 * Return `{data, error, loading, isOther, again, put}`; `isOther`: the data is of another path or query, and that of this one
 * is on its way; `again()` repeats the request, `put(data)` shows data from elsewhere. After a fault the data stays if it
 * answered the same request.
 */
export function useAnswer(path, query = {}, turn = /** @type {string | number} */ (0)) {
  return useAsked(path, query, turn, get);
}

/** Ask for a list of the API with all its pages, as `useAnswer`; `data` holds the items. */
export function useAll(path, query = {}, turn = 0) {
  return useAsked(path, query, turn, everyItem);
}

/** Ask by `ask(path, query, {signal})`, as `useAnswer`. */
export function useAsked(path, query, turn, ask) {
  const [round, setRound] = useState(0);
  const question = JSON.stringify([path, query]);
  const key = path && JSON.stringify([question, turn, round]);
  const [state, setState] = useState({ key: null, of: null, data: null, error: null, failed: 0 });
  // Before the browser draws, which takes it longer than the request takes to leave.
  useLayoutEffect(() => {
    if (!path) return undefined;
    const stop = new AbortController();
    ask(path, query, { signal: stop.signal }).then(
      (data) => setState({ key, of: question, data, error: null, failed: 0 }),
      (error) => error.name !== "AbortError" && setState((was) => ({ ...kept(was, question), ...refused(error, was.failed), key })),
    );
    return () => stop.abort();
  }, [key]);
  const again = useCallback(() => setRound((was) => was + 1), []);
  const loading = Boolean(path) && state.key !== key;
  useEffect(() => {
    const { retryAfter = null } = state.error ?? {};
    if (retryAfter === null || loading) return undefined;
    const timer = window.setTimeout(again, 1000 * Math.max(1, retryAfter));
    return () => window.clearTimeout(timer);
  }, [state.error, loading]);
  const put = useCallback((data) => setState((was) => ({ ...was, data })), []);
  return { ...state, loading, isOther: loading && state.of !== question, again, put };
}

/** The state after a fault. A server that does not answer is left more and more time, as one that starts may need it. */
function refused(error, failed) {
  if (error.status === 0) error.retryAfter = PAUSES_SECONDS[Math.min(failed, PAUSES_SECONDS.length - 1)];
  return { error, failed: failed + 1 };
}

/** The data to keep after a fault: only that of the same request. */
function kept(was, question) {
  return was.of === question ? was : { of: null, data: null };
}

async function everyItem(path, query, options) {
  const items = [];
  for (let page = 1; ; page += 1) {
    const list = await get(path, { ...query, page, limit: LIST_ROWS }, options);
    items.push(...list.items);
    if (list.items.length === 0 || items.length >= list.total) return items;
  }
}
