// SPDX-License-Identifier: Apache-2.0
// The heat strip of a flaky test: a column per day of the period, filled by the share of attempts that
// failed. Height and colour show the share, and so does a text.

import { count, counted, percent, slotName } from "../../format.js";
import { html } from "../../html.js";
import { Failed, Waiting } from "../../parts/notices/notice.js";
import { BoxLink } from "../../parts/values/past.js";

const SLOTS_MAX = 90; // a longer period has wider slots (contract, "CI metrics")
const WIDTH = 180;
const HEIGHT = 16;
const LEAST = 4; // of a share above 0
const LEVELS = [0.1, 0.3, 0.6]; // shares at which the colour changes

/** All boxes of a test in one strip. `history`: undefined while it is on its way. */
export function MergedStrip({ history, period }) {
  if (!history) return html`<span class="heat"></span>`;
  return html`<${Strip} slots=${history.slots} period=${period} />`;
}

/** A strip for each box of a test. `answer`: what brings the history. */
export function BoxStrips({ history, answer, period, orgId }) {
  if (!history && answer.error) return html`<${Failed} error=${answer.error} again=${answer.again} />`;
  if (!history) return html`<${Waiting} />`;
  const hidden = history.boxesTotal - history.boxes.length;
  return html`<ul class="strips">
    ${history.boxes.map(({ boxKey, slots }) => html`<li key=${boxKey}>
      <span><${BoxLink} plain boxKey=${boxKey} orgId=${orgId} /></span>
      <${Strip} slots=${slots} period=${period} />
    </li>`)}
    ${hidden > 0 && html`<li class="quiet">and ${counted(hidden, "more box", "more boxes")}</li>`}
  </ul>`;
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
