// SPDX-License-Identifier: Apache-2.0
// A second click just after a review: the rows have moved, and it would review another failure.

import { useEffect, useRef } from "../../html.js";

const SHIFTED_MILLISECONDS = 1_000;

/**
 * Return `{shifted(), isSettled()}`: `shifted` tells that the rows have moved, and clicks count again once the pointer has
 * moved or a key is pressed, or after a while.
 */
export function useShifting() {
  const at = useRef(null);
  useEffect(() => {
    const settle = () => (at.current = null);
    const stop = new AbortController();
    // First of all listeners: a key of the page counts at once.
    for (const kind of ["pointermove", "keydown"]) window.addEventListener(kind, settle, { signal: stop.signal, capture: true });
    return () => stop.abort();
  }, []);
  return {
    shifted: () => (at.current = performance.now()),
    isSettled: () => at.current === null || performance.now() - at.current >= SHIFTED_MILLISECONDS,
  };
}
