// SPDX-License-Identifier: Apache-2.0
// A figure over the slots of a period, as bars beside its tile. The same figures stand as a table on
// the page (`pages/metrics/days.js`), for people who prefer figures.

import { count, slotName } from "../format.js";
import { html, useState } from "../html.js";

const WIDTH = 240;
const HEIGHT = 36;
const LEAST = 3; // of a bar above 0
const GAP = 1;

/**
 * Bars of a figure: `of` reads it from a slot, `outOf` what it is a part of, drawn behind; `all`: of the whole
 * period. While the slots load, their place is kept free, so that nothing below moves.
 */
export function Trend({ slots, of, outOf = (_slot) => 0, all, title, kind }) {
  const [pointed, setPointed] = useState(null);
  if (!slots) return html`<div class="trend"></div><p class="trend-text"></p>`;
  const most = Math.max(1, ...slots.map(of), ...slots.map(outOf));
  const step = WIDTH / slots.length;
  const slot = slots[pointed];
  return html`<svg class=${`trend trend-${kind}`} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none"
      role="img" aria-label=${described(title, slots, of, all)} onPointerLeave=${() => setPointed(null)}>
      ${slots.map((one, i) => html`<g key=${i} onPointerEnter=${() => setPointed(i)} class=${i === pointed ? "pointed" : undefined}>
        <rect class="column" ...${box(i, step, HEIGHT)} />
        ${outOf(one) > of(one) && html`<rect class="whole" ...${box(i, step, tall(outOf(one), most))} />`}
        ${of(one) > 0 ? html`<rect ...${box(i, step, tall(of(one), most))} />` : html`<rect class="none" ...${box(i, step, 1)} />`}
      </g>`)}
    </svg>
    <p class="trend-text" aria-hidden="true">${slot && slotText(slot, of, outOf)}</p>`;
}

function slotText(slot, of, outOf) {
  return `${slotName(slot)}: ${count(of(slot))}${outOf(slot) ? ` of ${count(outOf(slot))}` : ""}`;
}

function box(i, step, height) {
  return { x: i * step, y: HEIGHT - height, width: Math.max(step - GAP, step / 2), height };
}

function tall(value, most) {
  return Math.max(LEAST, (value / most) * HEIGHT);
}

function described(title, slots, of, all) {
  const values = slots.map(of);
  const most = Math.max(...values);
  const peak = most > 0 ? `, at most ${count(most)} on ${slotName(slots[values.indexOf(most)])}` : "";
  return `${title}: ${count(all)} in all${peak}`;
}
