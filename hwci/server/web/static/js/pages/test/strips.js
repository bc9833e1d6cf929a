// SPDX-License-Identifier: Apache-2.0
// A strip for each box over one time axis: a column for each of the reader's days, as high as the worst that a run did
// then, so that it reads without colours; above them the days on which commits ran first. A column leads to its runs.

import { addressOf } from "../../address.js";
import { count, counted, dayOrPart, short } from "../../format.js";
import { html, useState } from "../../html.js";
import { Axis, Columns, HEIGHT } from "../../parts/time_line.js";
import { BoxLink } from "../../parts/values/past.js";
import { PASSED_ON_A_RETRY } from "../../words.js";

/**
 * What a run did, the worst first: its word, and the bars that stand for it as [top, height] of the strip.
 * @type {[string, string, [number, number][]][]}
 */
const KINDS = [
  ["failed", "failed", [[0, 24]]],
  ["lost", "lost", [[0, 7], [17, 7]]],
  ["retried", PASSED_ON_A_RETRY, [[10, 14]]],
  ["passed", "passed", [[18, 6]]],
];

/** The strips of a test. */
export function Strips({ test, orgId }) {
  const cursor = useState(null); // the day that is pointed at in one of them: a line in each
  const rest = test.boxesTotal - test.boxes.length;
  return html`
    <p class="quiet legend">${KINDS.map(([kind, word]) => html`<span key=${kind}><${Swatch} kind=${kind} /> ${word}</span>`)}
      <span>empty: not run</span></p>
    <p class="quiet">A day shows the worst of its runs, and leads to them. Lost: the run never reached the hardware, or had lost
      its board.</p>
    <ul class="over-time">
      <li><span class="quiet">New commits</span><${Commits} ...${{ test, orgId, cursor }} /></li>
      ${test.boxes.map((box) => html`<li key=${box.boxKey}>
        <span><${BoxLink} plain boxKey=${box.boxKey} orgId=${orgId} /></span><${Strip} ...${{ box, test, orgId, cursor }} />
      </li>`)}
      <li aria-hidden="true"><span></span><${Axis} days=${test.days} /></li>
    </ul>
    ${rest > 0 && html`<p class="quiet">and ${counted(rest, "more box", "more boxes")}</p>`}
  `;
}

function Swatch({ kind }) {
  return html`<svg class="swatch" viewBox=${`0 0 ${HEIGHT} ${HEIGHT}`} aria-hidden="true">
    <${Shape} kind=${kind} x="0" width=${HEIGHT} />
  </svg>`;
}

function Shape({ kind, x, width }) {
  const [, , bars] = KINDS.find(([one]) => one === kind);
  return bars.map(([y, height]) => html`<rect key=${y} class=${kind} ...${{ x, y, width, height }} />`);
}

function Strip({ box, test, orgId, cursor }) {
  const ofDay = new Map(box.days.map((tries) => [test.days[tries.day], tries]));
  return html`<${Columns} ...${{ cursor }} days=${test.days} marked=${box.days} name=${`${box.boxKey}, ${described(box, test)}`}
    said=${(day) => said(ofDay.get(day))} rowsOf=${(day) => runsOf(test, orgId, day, box.boxKey, ofDay.get(day))}
    drawn=${(tries, place) => html`<${Shape} kind=${worst(tries)} ...${place} />`} />`;
}

/** A mark for each day on which commits ran the test for the first time; it leads to the runs of that day. */
function Commits({ test, orgId, cursor }) {
  const total = test.commits.reduce((sum, { commits }) => sum + commits, 0);
  const ofDay = new Map(test.commits.map((mark) => [test.days[mark.day], mark]));
  const first = (day) => {
    const { commits, sha, subject } = ofDay.get(day) ?? { commits: 0 };
    if (commits === 0) return "no new commit";
    return `${commits > 1 ? `${counted(commits, "commit")}, the last ` : ""}${short(sha)} ${subject}`;
  };
  return html`<${Columns} kind="commits" ...${{ cursor }} days=${test.days} marked=${test.commits} said=${first}
    name=${`New commits, ${counted(total, "commit")} on ${counted(test.commits.length, "day")}`}
    rowsOf=${(day) => runsOf(test, orgId, day)}
    drawn=${(_mark, place) => html`<rect class="mark" ...${place} y=${HEIGHT / 3} height=${HEIGHT / 3} />`} />`;
}

/** The runs of a day. Where only lost runs named no test, these: the list cannot find them by the test. */
function runsOf({ repoKey, suite, testId }, orgId, { from, to }, boxKey = null, tries = null) {
  const query = { repoKey, suite, boxKey, status: "reported", from, to };
  const isUnnamed = tries?.unnamed > 0 && tries.unnamed === total(tries);
  return addressOf("runs", { orgId }, { ...query, ...(isUnnamed ? { helloOk: false } : { testId }) });
}

function total(tries) {
  return KINDS.reduce((sum, [kind]) => sum + tries[kind], 0);
}

function worst(tries) {
  return KINDS.find(([kind]) => tries[kind] > 0)[0];
}

function said(tries) {
  if (!tries) return "not run";
  const found = KINDS.filter(([kind]) => tries[kind] > 0).map(([kind, word]) => `${count(tries[kind])} ${word}`).join(", ");
  const isMixed = tries.unnamed > 0 && tries.unnamed < total(tries);
  return isMixed ? `${found} (${count(tries.unnamed)} of them named no test, and is not in the list)` : found;
}

function described(box, test) {
  const bad = box.days.filter(({ failed }) => failed > 0);
  const days = `ran on ${counted(box.days.length, "day")}`;
  if (bad.length === 0) return `${days}, failed on none`;
  return `${days}, failed on ${count(bad.length)} of them, the last ${dayOrPart(test.days[bad.at(-1).day])}`;
}
