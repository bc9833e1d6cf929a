// SPDX-License-Identifier: Apache-2.0
// A figure over the days of a period, as a chart beside its tile: bars with their axes, and where the figure is a
// part, above them its share as a line within its interval. The same figures stand as a table on the page
// (`pages/metrics/days.js`), for people who prefer figures. The API computes each of them.

import { count, dayOrPart } from "../format.js";
import { html } from "../html.js";
import { Bars } from "./bars.js";
import { HEIGHT, WIDTH, bands, bar, dayText, described, level, line, tall } from "./trend_shapes.js";

const LEGEND = "Line: share · band: 95 % sure · bars: count";

/**
 * A chart of a figure: `of` reads it from a day, `outOf` what it is a part of, which stands above it; `share`: the
 * part with its interval, null where there is none; `all`: of the whole period; `rowsOf` gives the address of a
 * day's rows; `target`: the share that is aimed at, if any, and `bound`: whether that is "at least" or "at most" so
 * much; `cursor`: the day that is pointed at in this chart or another one of the page, as `[number, setNumber]`, null: in
 * none. While the days load, their place is kept free, so that nothing below moves.
 */
export function Trend({ days, of, outOf = (_day) => 0, share = null, all, title, kind, rowsOf, cursor, target = null, bound = "" }) {
  const [chosen, setChosen] = cursor;
  if (!days) return html`<div class="trend"></div><div class="trend-words"></div>`;
  const at = Math.min(chosen ?? days.length - 1, days.length - 1);
  const most = Math.max(1, ...days.map(of), ...days.map(outOf));
  const text = (day) => dayText(day, of, outOf, share);
  return html`<div class=${share ? "trend of-shares" : "trend"} role="group" aria-label=${described(title, days, of, all)}>
      ${share && html`<span class="share-most">100 %</span><span class="share-none">0 %</span>`}
      <span class="count-most">${count(most)}</span><span class="count-none">0</span>
      <${Bars} ...${{ days, at: chosen === null ? null : at, setChosen, rowsOf, name: `${title}, ${text(days[at])}` }}>
        <${Plot} ...${{ days, of, outOf, share, most, kind, pointed: chosen, target }} />
      <//>
      <span class="axis-first">${dayOrPart(days[0])}</span><span class="axis-last">${dayOrPart(days[days.length - 1])}</span>
    </div>
    <div class=${chosen === null ? "trend-words" : "trend-words of-a-day"}>
      ${share && html`<p class="trend-legend">${LEGEND}</p>`}
      ${target && html`<${Target} ...${target} bound=${bound} />`}
      <p class="trend-text" aria-hidden="true">${chosen !== null && text(days[at])}</p>
    </div>`;
}

/** The target in words; those of a day that is pointed at stand in their place, but not for who hears them. */
function Target({ rate, met, bound }) {
  const result = met === null ? "nothing to count" : met ? "met" : "not met";
  return html`<p class="trend-target">Target ${bound} ${rate} %: <strong>${result}</strong></p>`;
}

function Plot({ days, of, outOf, share, most, kind, pointed, target }) {
  const step = WIDTH / days.length;
  const shares = share ? days.map(share) : [];
  const high = (value) => tall(value, most, share !== null);
  return html`<svg class=${`plot plot-${kind}`} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
    ${days.map((day, i) => html`<g key=${day.from} class=${i === pointed ? "pointed" : undefined}>
      <rect class=${day.whole ? "column" : "column cut"} ...${bar(i, step, 0, HEIGHT)} />
      ${outOf(day) > of(day) && html`<rect class="rest" ...${bar(i, step, high(of(day)), high(outOf(day)))} />`}
      ${of(day) > 0 && html`<rect class="counted" ...${bar(i, step, 0, high(of(day)))} />`}
    </g>`)}
    ${share && html`<path class="base" d=${`M0 ${level(0)}H${WIDTH}`} />`}
    <path class="band" d=${bands(shares, step)} />
    <path class="rate" d=${line(shares, step)} />
    ${target && html`<path class="target" d=${`M0 ${level(target.rate / 100)}H${WIDTH}`} />`}
  </svg>`;
}
