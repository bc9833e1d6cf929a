// SPDX-License-Identifier: Apache-2.0
// The heat strip of a flaky test: a column per day of the period, filled by the share of attempts that
// failed. Height and colour show the share, and so does a text.

import { count, counted, percent, slotName } from "../../format.js";
import { html } from "../../html.js";

const SLOTS_MAX = 90; // a longer period has wider slots (contract, "CI metrics")
const WIDTH = 180;
const HEIGHT = 16;
const LEAST = 4; // of a share above 0
const LEVELS = [0.1, 0.3, 0.6]; // shares at which the colour changes

/** A test on all its boxes, or on one, in one strip. `history`: undefined while it is on its way. */
export function HeatStrip({ history, period }) {
  if (!history) return html`<span class="heat"></span>`;
  return html`<${Strip} slots=${history.slots} period=${period} />`;
}

function Strip({ slots, period }) {
  const number = Math.min(period.days, SLOTS_MAX);
  const step = WIDTH / number;
  return html`<svg class="heat" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img"
    aria-label=${described(slots, period, number)}>
    ${slots.map((slot) => html`<${Column} key=${slot.slot} slot=${slot} x=${slot.slot * step} width=${step * 0.85}
      name=${nameOf(slot.slot, period, number)} />`)}
  </svg>`;
}

function Column({ slot, x, width, name }) {
  const share = slot.attempts ? slot.failedAttempts / slot.attempts : 0;
  const height = Math.max(LEAST, share * HEIGHT);
  const level = LEVELS.filter((least) => share >= least).length;
  return html`<rect class="ran" x=${x} y="0" width=${width} height=${HEIGHT} />
    ${share > 0 && html`<rect class=${`failed-${level}`} x=${x} y=${HEIGHT - height} width=${width} height=${height}>
      <title>${`${name}: ${count(slot.failedAttempts)} of ${counted(slot.attempts, "attempt")} failed`}</title>
    </rect>`}`;
}

function described(slots, period, number) {
  const failing = slots.filter((slot) => slot.failedAttempts > 0);
  if (failing.length === 0) return `ran on ${counted(slots.length, "day")}, no attempt failed`;
  const shareOf = ({ attempts, failedAttempts }) => failedAttempts / attempts;
  const worst = failing.reduce((most, slot) => (shareOf(slot) > shareOf(most) ? slot : most));
  const share = percent(100 * shareOf(worst));
  const days = `${failing.length} of ${counted(slots.length, "day")} with runs`;
  return `failed on ${days}, most on ${nameOf(worst.slot, period, number)}: ${share}`;
}

function nameOf(slot, { from, to }, number) {
  const start = Date.parse(from);
  const width = (Date.parse(to) - start) / number;
  return slotName({ from: start + slot * width, to: start + (slot + 1) * width });
}
