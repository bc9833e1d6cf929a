// SPDX-License-Identifier: Apache-2.0
// The heat strip of a flaky test: a column for each of the reader's days, filled by the share of attempts that
// failed. Height and colour show the share, and so does a text. A line marks the day that a chart of the tiles points at.

import { count, counted, dayOrPart, percent } from "../../format.js";
import { html } from "../../html.js";

const WIDTH = 180;
const HEIGHT = 16;
const LEAST = 4; // of a share above 0
const LEVELS = [0.1, 0.3, 0.6]; // shares at which the colour changes

/** A test on all its boxes, or on one, in one strip. `history`: undefined while it is on its way. */
export function HeatStrip({ history, days }) {
  if (!history) return html`<span class="heat"></span>`;
  return html`<${Strip} slots=${history.slots} days=${days} />`;
}

function Strip({ slots, days }) {
  const step = WIDTH / days.length;
  return html`<span class="heat"><svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img"
    aria-label=${described(slots, days)}>
    ${slots.map((slot) => html`<${Column} key=${slot.slot} slot=${slot} x=${slot.slot * step} width=${step * 0.85}
      name=${dayOrPart(days[slot.slot])} />`)}
  </svg></span>`;
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

function described(slots, days) {
  const failing = slots.filter((slot) => slot.failedAttempts > 0);
  if (failing.length === 0) return `ran on ${counted(slots.length, "day")}, no attempt failed`;
  const shareOf = ({ attempts, failedAttempts }) => failedAttempts / attempts;
  const worst = failing.reduce((most, slot) => (shareOf(slot) > shareOf(most) ? slot : most));
  const share = percent(100 * shareOf(worst));
  const ran = `${failing.length} of ${counted(slots.length, "day")} with runs`;
  return `failed on ${ran}, most on ${dayOrPart(days[worst.slot])}: ${share}`;
}
