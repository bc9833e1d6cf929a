// SPDX-License-Identifier: Apache-2.0
// The bars, lines and words of a chart (`trend.js`), computed from the figures of its days. It draws nothing.

import { count, dayName, dayOrPart, percent, rangeOf } from "../format.js";

export const WIDTH = 240;
export const HEIGHT = 96;
const SHARES = 28; // of the height, above the counts
const COUNTS = 50; // beneath shares; else the whole height
const LEAST = 3; // of a bar above 0
const GAP = 1;

/** How tall the bar of a count is. `most`: the highest count of the chart. */
export function tall(value, most, isBelowShares) {
  return value === 0 ? 0 : Math.max(LEAST, (value / most) * (isBelowShares ? COUNTS : HEIGHT));
}

/** A bar between two heights; one above another leaves a gap, as colours alone tell too little. */
export function bar(i, step, low, high) {
  const bottom = low > 0 ? low + GAP : 0;
  return { x: i * step, y: HEIGHT - high, width: Math.max(step - GAP, step / 2), height: Math.max(0, high - bottom) };
}

/** How far down a share from 0 to 1 is. */
export function level(share) {
  return 1 + SHARES * (1 - share);
}

/** The ranges of neighbouring days as one area: along their upper ends, and back along the lower ones. */
export function bands(shares, step) {
  const isSure = (one) => one && one.low !== null;
  return shares.map((one, i) => {
    if (!isSure(one) || (i > 0 && isSure(shares[i - 1]))) return "";
    const end = shares.findIndex((other, at) => at > i && !isSure(other));
    const days = shares.slice(i, end < 0 ? shares.length : end);
    const upper = days.map(({ high }) => `V${level(high)}h${step}`);
    const lower = days.reverse().map(({ low }) => `V${level(low)}h${-step}`);
    return `M${i * step} ${level(one.high)}${upper.join("")}${lower.join("")}z`;
  }).join("");
}

/** A line with a step for each day; it has a gap where a day has no share. */
export function line(shares, step) {
  const across = ({ part, total }) => `${level(part / total)}h${step}`;
  return shares.map((one, i) => one && `${shares[i - 1] ? "L" : "M"}${i * step} ${across(one)}`).filter(Boolean).join("");
}

/** A day in words: its count and, of a share, how sure it is. */
export function dayText(day, of, outOf, share) {
  const one = share?.(day);
  const sure = one ? `, ${percent((100 * one.part) / one.total)} (${rangeOf(one)})` : "";
  return `${dayOrPart(day)}: ${count(of(day))}${outOf(day) ? ` of ${count(outOf(day))}` : ""}${sure}`;
}

/** A chart in a sentence, for those who do not see it. */
export function described(title, days, of, all) {
  const values = days.map(of);
  const most = Math.max(...values);
  const peak = most > 0 ? `, at most ${count(most)} on ${dayName(days[values.indexOf(most)])}` : "";
  return `${title}: ${count(all)} in all${peak}`;
}
