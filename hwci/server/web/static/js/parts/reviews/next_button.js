// SPDX-License-Identifier: Apache-2.0
// The focus after a review: the button that was pressed may be of no use any more, and goes away with it.

import { useEffect, useRef } from "../../html.js";

/**
 * Return `{place, press(), leave}`: `place` is the reference to what holds the buttons, `leave` its `onFocusOut`, and
 * `press` tells that one was pressed. If it goes away with the focus, another one there gets it.
 */
export function useNextButton() {
  const place = useRef(null);
  const pressed = useRef(false);
  useEffect(() => {
    if (pressed.current && document.activeElement === document.body) place.current.querySelector("button")?.focus();
  });
  const leave = ({ relatedTarget }) => {
    if (relatedTarget) pressed.current = false;
  };
  return { place, leave, press: () => (pressed.current = true) };
}
