// SPDX-License-Identifier: Apache-2.0
// The last days of an incident as a strip: a cell a day, which reads without colours. The API decides what a day is.

import { counted } from "../../format.js";
import { html } from "../../html.js";

/**
 * What a letter of the API stands for: its word, and the bars that are drawn for it as [kind, top, height].
 * @type {Record<string, [string, [string, number, number][]]>}
 */
const DAYS = {
  f: ["failed", [["failed", 0, 20]]],
  b: ["failed and passed", [["failed", 0, 9], ["passed", 15, 5]]],
  p: ["passed", [["passed", 15, 5]]],
  "-": ["not run", []],
};
const WIDTH = 7; // of a cell, with a gap of one

/** The strip of an incident. `lastDays`: a letter a day, the oldest first. */
export function IncidentDays({ lastDays }) {
  const letters = [...lastDays];
  return html`<svg class="strip last-days" role="img" aria-label=${described(letters)} width=${WIDTH * letters.length}
      height="20" viewBox=${`0 0 ${WIDTH * letters.length} 20`} preserveAspectRatio="none">
    <title>${described(letters)}</title>
    ${letters.map((letter, at) => DAYS[letter][1].map(([kind, y, height]) => html`<rect key=${`${at} ${y}`} class=${kind}
      x=${WIDTH * at} y=${y} width=${WIDTH - 1} height=${height} />`))}
  </svg>`;
}

function described(letters) {
  const of = Object.entries(DAYS).map(([letter, [word]]) => [letters.filter((day) => day === letter).length, word]);
  const days = of.filter(([number]) => number > 0).map(([number, word]) => `${word} on ${number}`);
  return `Last ${counted(letters.length, "day")}: ${days.join(", ")}`;
}
