// SPDX-License-Identifier: Apache-2.0
// Strips below each other over one time axis: a column for each of the reader's days, which leads to what happened then.
// What a strip shows, its page decides.

import { dayOrPart } from "../format.js";
import { html, useState } from "../html.js";
import { Bars } from "./bars.js";

const WIDTH = 900;
export const HEIGHT = 24;
const FILLED = 0.85; // of the width of a day
const THIRDS = ["first", "middle", "last"]; // of a strip: where the words for a day stand

/**
 * Days as columns of one link. `marked`: what is `drawn` of days, each by its `day`; `said`: what happened on a day;
 * `cursor`: `[day, setDay]`, the day that is pointed at in one of the strips, a line in each; `hasWords`: whether a strip
 * has the words for its day, or its page; `flags`: the days that a line marks.
 */
export function Columns({ days, marked, name, said, rowsOf, drawn, cursor, kind = "", hasWords = true, flags = [] }) {
  const [pointed, setPointed] = cursor;
  const [chosen, choose] = useState(null); // in this one
  const setChosen = (day) => {
    choose(day);
    setPointed(day);
  };
  const usual = marked.at(-1)?.day ?? days.length - 1;
  const at = Math.min(chosen ?? usual, days.length - 1);
  const step = WIDTH / days.length;
  const text = (day) => `${dayOrPart(day)}: ${said(day)}`;
  return html`<div class="columns">
    <${Bars} ...${{ days, at: chosen === null ? null : at, usual, setChosen, rowsOf, name: `${name}; ${text(days[at])}` }}>
      <svg class=${`strip ${kind}`} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        ${pointed !== null && html`<rect class="pointed" x=${pointed * step} y="0" width=${step} height=${HEIGHT} />`}
        ${marked.map((one) => html`<g key=${one.day}>${drawn(one, { x: one.day * step, width: step * FILLED })}</g>`)}
        ${flags.map((day) => html`<path key=${day} class="flag" d=${`M${day * step} 0V${HEIGHT}`} />`)}
      </svg>
    <//>
    ${chosen !== null && hasWords && html`<p class=${`columns-text ${THIRDS[Math.floor((3 * at) / days.length)]}`}
      aria-hidden="true">${text(days[at])}</p>`}
  </div>`;
}

/** The first and the last day, at their ends of the strips. */
export function Axis({ days }) {
  return html`<span class="axis quiet"><span>${dayOrPart(days[0])}</span><span>${dayOrPart(days.at(-1))}</span></span>`;
}
