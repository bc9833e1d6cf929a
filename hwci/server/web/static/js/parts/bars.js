// SPDX-License-Identifier: Apache-2.0
// The days of a chart as one link: to the rows of the day that is pointed at, touched, or chosen by the arrow keys. Several
// days, dragged over or chosen with Shift, become the period of the page. What is drawn of them is not known here.

import { dayName } from "../format.js";
import { html, useRef, useState } from "../html.js";
import { changeScope } from "./frame/scope.js";

const STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -7, PageDown: 7, Home: -Infinity, End: Infinity };
const DRAGGED_PIXELS = 8; // at least: a click may move a little
const CHOSEN_KEYS = "Enter shows these days alone, Escape lets them go";
const KEYS = "Arrow keys choose another day, with Shift several";

/** The days. `at`: the chosen one; null: none yet, and the link leads to the `usual` one. `name`: of the chart and its day. */
export function Bars({ days, at, usual = days.length - 1, setChosen, rowsOf, name, children }) {
  const several = useSeveral(days);
  const last = days.length - 1;
  const dayUnder = ({ currentTarget, clientX }) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(last, Math.floor(((clientX - left) / width) * days.length)));
  };
  const onKeyDown = (event) => {
    if (several.onKey(event)) return;
    const step = STEPS[event.key];
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const to = Math.max(0, Math.min(last, (at ?? usual) + step));
    if (event.shiftKey) several.reach(at ?? usual, to);
    else several.clear();
    setChosen(to);
  };
  // A finger covers several bars: the first touch shows a day, a touch of the same day goes there.
  const onClick = (event) => {
    if (several.wasDragged(event)) return event.preventDefault();
    const under = event.detail === 0 ? at : dayUnder(event); // 0: by a key
    if (event.pointerType !== "touch" || under === at) return undefined;
    event.preventDefault();
    return setChosen(under);
  };
  const press = (event) => event.pointerType !== "touch" && event.button === 0 && several.press(event, dayUnder(event));
  const point = (event) => {
    if (event.pointerType === "touch") return;
    several.drag(event, dayUnder(event));
    setChosen(dayUnder(event));
  };
  const leave = (event) => event.pointerType !== "touch" && setChosen(null);
  const enter = ({ target }) => at === null && target.matches(":focus-visible") && setChosen(usual);
  const blur = () => {
    several.clear();
    setChosen(null);
  };
  const words = several.words ?? `${name}. ${KEYS}`;
  return html`<a class="bars" href=${rowsOf(days[at ?? usual])} draggable=${false} aria-label=${words} onKeyDown=${onKeyDown}
    onClick=${onClick} onPointerDown=${press} onPointerMove=${point} onPointerUp=${several.release} onPointerCancel=${several.clear}
    onFocus=${enter} onPointerLeave=${leave} onBlur=${blur}>${children}${several.shown}</a>`;
}

/** Several neighbouring days, being chosen. `words`: what is heard of them, `shown`: what is seen; null where there are none. */
function useSeveral(days) {
  const [range, setRange] = useState(null); // where it began, and the day reached
  const pressed = useRef(null); // where a pointer went down: `{day, x}`
  const dragged = useRef(false);
  const clear = () => {
    pressed.current = null;
    setRange(null);
  };
  const [first, last] = range ? [Math.min(...range), Math.max(...range)] : [0, 0];
  const isSeveral = last > first && last < days.length;
  const show = () => {
    clear();
    changeScope({ from: days[first].from, asOf: days[last].to }); // its days stay in the address, for the way back
  };
  const reach = (from, to) => setRange([range?.[0] ?? from, to]);
  return {
    clear,
    reach,
    /** Whether a key was for the chosen days: Enter shows them, Escape lets them go. */
    onKey: (event) => {
      if (!isSeveral || (event.key !== "Enter" && event.key !== "Escape")) return false;
      event.preventDefault();
      if (event.key === "Enter") show();
      else clear();
      return true;
    },
    press: (event, day) => {
      event.currentTarget.setPointerCapture(event.pointerId);
      [pressed.current, dragged.current] = [{ day, x: event.clientX }, false];
      setRange(null);
    },
    drag: ({ clientX }, day) => {
      const from = pressed.current;
      if (from && (range || Math.abs(clientX - from.x) >= DRAGGED_PIXELS)) reach(from.day, day);
    },
    release: () => {
      dragged.current = pressed.current !== null && isSeveral;
      if (dragged.current) show();
      else clear();
    },
    wasDragged: ({ detail }) => detail > 0 && dragged.current,
    words: isSeveral ? `${dayName({ ...days[first], lastDay: days[last].lastDay })}. ${CHOSEN_KEYS}` : null,
    shown: isSeveral && html`<svg class="several" viewBox=${`0 0 ${days.length} 1`} preserveAspectRatio="none" aria-hidden="true">
      <rect x=${first} width=${last + 1 - first} height="1" />
    </svg>`,
  };
}
