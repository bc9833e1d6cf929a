// SPDX-License-Identifier: Apache-2.0
// A strip for each box over one time axis: a column for each day, as high as the worst that a run did then, so that it
// reads without colours; above them the days on which commits ran first. A slot of a long period is wider than a day.

import { count, counted, periodName, short, slotName } from "../../format.js";
import { html } from "../../html.js";
import { LongName } from "../../parts/values.js";

const WIDTH = 900;
const HEIGHT = 24;
const FILLED = 0.85; // of the width of a slot

/**
 * What a run did, the worst first: its word, and the bars that stand for it as [top, height] of the strip.
 * @type {[string, string, [number, number][]][]}
 */
const KINDS = [
  ["failed", "failed", [[0, 24]]],
  ["lost", "lost", [[0, 7], [17, 7]]],
  ["retried", "passed on a retry", [[10, 14]]],
  ["passed", "passed", [[18, 6]]],
];

/** The strips of a test. */
export function Strips({ test }) {
  const rest = test.boxesTotal - test.boxes.length;
  return html`
    <p class="quiet legend">${KINDS.map(([kind, word]) => html`<span key=${kind}><${Swatch} kind=${kind} /> ${word}</span>`)}
      <span>empty: not run</span></p>
    <p class="quiet">A day shows the worst of its runs. Lost: the run never reached the hardware, or had lost its board.</p>
    <ul class="over-time">
      <li><span class="quiet">New commits</span><${Commits} test=${test} /></li>
      ${test.boxes.map((box) => html`<li key=${box.boxKey}>
        <span><${LongName} name=${box.boxKey} /></span><${Strip} box=${box} test=${test} />
      </li>`)}
      <li aria-hidden="true"><span></span><${Axis} period=${test.period} /></li>
    </ul>
    ${rest > 0 && html`<p class="quiet">and ${counted(rest, "more box", "more boxes")}</p>`}
  `;
}

function Swatch({ kind }) {
  return html`<svg class="swatch" viewBox=${`0 0 ${HEIGHT} ${HEIGHT}`} aria-hidden="true">
    <${Bars} kind=${kind} x="0" width=${HEIGHT} />
  </svg>`;
}

function Bars({ kind, x, width }) {
  const [, , bars] = KINDS.find(([one]) => one === kind);
  return bars.map(([y, height]) => html`<rect key=${y} class=${kind} ...${{ x, y, width, height }} />`);
}

function Strip({ box, test }) {
  const step = WIDTH / test.slots;
  return html`<svg class="strip" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img"
    aria-label=${described(box, test)}>
    ${box.slots.map((slot) => html`<g key=${slot.slot}>
      <title>${nameOf(slot.slot, test)}: ${said(slot)}</title>
      <rect class="ran" x=${slot.slot * step} y="0" width=${step} height=${HEIGHT} />
      <${Bars} kind=${worst(slot)} x=${slot.slot * step} width=${step * FILLED} />
    </g>`)}
  </svg>`;
}

/** A mark for each day on which commits ran the test for the first time. */
function Commits({ test }) {
  const step = WIDTH / test.slots;
  const total = test.commits.reduce((sum, { commits }) => sum + commits, 0);
  return html`<svg class="strip commits" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img"
    aria-label=${`${counted(total, "commit")} on ${counted(test.commits.length, "day")}`}>
    ${test.commits.map(({ slot, commits, sha, subject }) => html`<g key=${slot}>
      <title>${nameOf(slot, test)}: ${commits > 1 && `${counted(commits, "commit")}, the last `}${short(sha)} ${subject}</title>
      <rect class="ran" x=${slot * step} y="0" width=${step} height=${HEIGHT} />
      <rect class="mark" x=${slot * step} y=${HEIGHT / 3} width=${step * FILLED} height=${HEIGHT / 3} />
    </g>`)}
  </svg>`;
}

/** The first and the last day, at their ends of the strips. */
function Axis({ period: { from, to } }) {
  return html`<span class="axis quiet"><span>${periodName({ from, to: from })}</span><span>${periodName({ from: to, to })}</span></span>`;
}

function worst(slot) {
  return KINDS.find(([kind]) => slot[kind] > 0)[0];
}

function said(slot) {
  return KINDS.filter(([kind]) => slot[kind] > 0).map(([kind, word]) => `${count(slot[kind])} ${word}`).join(", ");
}

function described(box, test) {
  const bad = box.slots.filter((slot) => slot.failed > 0);
  const days = `ran on ${counted(box.slots.length, "day")}`;
  if (bad.length === 0) return `${days}, failed on none`;
  return `${days}, failed on ${count(bad.length)} of them, the last ${nameOf(bad.at(-1).slot, test)}`;
}

function nameOf(slot, { period: { from, to }, slots }) {
  const start = Date.parse(from);
  const width = (Date.parse(to) - start) / slots;
  return slotName({ from: start + slot * width, to: start + (slot + 1) * width });
}
