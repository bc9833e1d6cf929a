// SPDX-License-Identifier: Apache-2.0
// The days of a box on one time axis: its notes, its runs and its silence, what never reached the hardware, lost the board
// or failed. The strips point at one day together. The API counts; the same figures stand below as a table.

import { addressOf } from "../../address.js";
import { count, counted, dayOrPart, shareText } from "../../format.js";
import { html, useState } from "../../html.js";
import { endOf } from "../../parts/scale.js";
import { PlainTable } from "../../parts/table/table.js";
import { Axis, Columns, HEIGHT } from "../../parts/time_line.js";
import { NEVER_REACHED } from "../../words.js";

const LEAST = 3; // of a bar above 0
const LINE = 2; // how thick one is
const LEGEND =
  "Bar: this box · dark line: the others · dash in the middle: silent, no run · flag: a note. Point at a day for its figures.";
const NOTHING = { part: 0, total: 0 };
const NO_COUNTS = { failed: 0, results: 0, othersFailed: 0, othersResults: 0 };
const SILENT = { runs: 0, neverReached: 0, lostBoard: 0, counts: NO_COUNTS, notes: [] };

/**
 * The strips with shares: its title, its share of a day, and that of the other boxes where there is one.
 * @type {{key: string, title: string, fields: string[], share: (day: any) => any, others?: (day: any) => any, runs?: object}[]}
 */
const SHARES = [
  {
    key: "unreached",
    title: NEVER_REACHED,
    fields: ["neverReached"],
    share: (day) => ({ part: day.neverReached, total: day.runs }),
    runs: { helloOk: false },
  },
  {
    key: "lost",
    title: "Lost its board",
    fields: ["lostBoard"],
    share: (day) => ({ part: day.lostBoard, total: day.runs - day.neverReached }),
  },
  {
    key: "failed",
    title: "Failed first attempts",
    fields: ["counts"],
    share: ({ counts }) => ({ part: counts.failed, total: counts.results }),
    others: ({ counts }) => ({ part: counts.othersFailed, total: counts.othersResults }),
  },
];

/** The time line of a box. `toNotes`: the address of its notes on this page. */
export function Cockpit({ found, orgId, scope, toNotes }) {
  const cursor = useState(null);
  const { days, byDay, boxKey } = found;
  const at = new Map(byDay.map((day) => [days[day.day], day]));
  const of = (day) => at.get(day) ?? SILENT;
  const noted = byDay.filter(({ notes }) => notes.length > 0);
  const flags = noted.map(({ day }) => day);
  const rowsOf = (more) => ({ from, to }) =>
    addressOf("runs", { orgId }, { repoKey: scope.repoKey, suite: scope.suite, boxKey, status: "reported", from, to, ...more });
  const strip = { days, cursor, flags, hasWords: false };
  const [pointed] = cursor;
  const day = pointed === null ? null : days[Math.min(pointed, days.length - 1)];
  return html`<div class="cockpit">
    <ul class="over-time">
      <li><span>Notes</span><${Columns} ...${strip} kind="flags" marked=${noted} said=${(on) => notesText(of(on))}
        rowsOf=${() => toNotes} name=${`Notes, ${counted(noted.reduce((sum, { notes }) => sum + notes.length, 0), "note")}`}
        drawn=${(_, { x }) => html`<path class="pennant" d=${`M${x} 2h14l-4 5l4 5h-14z`} />`} /></li>
      <li><span>Runs</span><${Runs} ...${{ strip, byDay, of, rowsOf: rowsOf({}) }} /></li>
      ${SHARES.map((one) => html`<li key=${one.key}><${Share} ...${{ one, strip, byDay, of, rowsOf: rowsOf(one.runs) }} /></li>`)}
      <li aria-hidden="true"><span></span><${Axis} days=${days} /></li>
    </ul>
    <p class="day-words quiet" aria-hidden="true">${day ? dayText(day, of(day)) : LEGEND}</p>
  </div>`;
}

/** The same figures as a table, the last day first. */
export function DaysOfBox({ found: { days, byDay } }) {
  const { others } = SHARES.at(-1);
  const columns = [
    { key: "day", title: "Day", fixed: true, cell: ({ day }) => dayOrPart(days[day]) },
    { key: "runs", title: "Runs", numeric: true, cell: ({ runs }) => count(runs) },
    ...SHARES.map(({ share, ...one }) => ({ ...one, numeric: true, cell: (day) => shareText(share(day)) ?? "none" })),
    { key: "others", title: "On the others", fields: ["counts"], numeric: true, cell: (day) => shareText(others(day)) ?? "none" },
    { key: "notes", title: "Notes", words: true, cell: ({ notes }) => notes.map(({ text }) => text).join("; ") },
  ];
  return html`<${PlainTable} name="days-of-box" label="Days of the box" columns=${columns} rows=${[...byDay].reverse()}
    rowKey=${({ day }) => day} />`;
}

function Runs({ strip, byDay, of, rowsOf }) {
  const most = Math.max(1, ...byDay.map(({ runs }) => runs));
  const tall = (runs) => Math.max(LEAST, (runs / most) * HEIGHT);
  const all = strip.days.map((day, number) => ({ day: number, runs: of(day).runs }));
  const quiet = all.filter(({ runs }) => runs === 0).length;
  return html`<${Columns} ...${strip} marked=${all} said=${(day) => runsText(of(day))} rowsOf=${rowsOf}
    name=${`Runs, at most ${count(most)} on a day, silent on ${counted(quiet, "day")}`}
    drawn=${({ runs }, place) => (runs > 0
      ? html`<rect class="ran" ...${place} y=${HEIGHT - tall(runs)} height=${tall(runs)} />`
      : html`<rect class="silent" ...${place} y=${(HEIGHT - LINE) / 2} height=${LINE} />`)} />`;
}

/** A strip of shares. Its scale ends above the highest, so that one of 1 % is seen; its title says where. */
function Share({ one, strip, byDay, of, rowsOf }) {
  const { key, title, share, others = () => NOTHING } = one;
  const top = endOf(byDay.flatMap((day) => [share(day), others(day)]));
  const tall = ({ part, total }) => (part === 0 ? 0 : Math.max(LEAST, (part / total / top) * HEIGHT));
  const some = byDay.filter((day) => share(day).part > 0 || others(day).part > 0);
  return html`<span>${title} <span class="quiet">0 to ${count(100 * top)} %</span></span>
    <${Columns} ...${strip} kind="share" marked=${some} said=${(day) => shareOf(one, of(day))} rowsOf=${rowsOf}
      name=${`${title}, on ${counted(byDay.filter((day) => share(day).part > 0).length, "day")} of ${counted(byDay.length, "day")}`}
      drawn=${(day, place) => html`<rect class=${key} ...${place} y=${HEIGHT - tall(share(day))} height=${tall(share(day))} />
        ${others(day).total > 0 && html`<rect class="others" ...${place} y=${Math.min(HEIGHT - LINE, HEIGHT - tall(others(day)))}
          height=${LINE} />`}`} />`;
}

function notesText({ notes }) {
  return notes.map(({ text }) => text).join("; ") || "no note";
}

function runsText({ runs }) {
  return runs === 0 ? "silent, no run" : counted(runs, "run");
}

function shareOf({ share, others = null }, day) {
  const here = shareText(share(day));
  if (here === null) return "nothing to count";
  return others ? `${here} here, ${shareText(others(day)) ?? "nothing"} on the others` : here;
}

/** All of a day in one line. */
function dayText(day, of) {
  const shares = SHARES.filter(({ share }) => share(of).total > 0).map((one) => `${one.title.toLowerCase()}: ${shareOf(one, of)}`);
  return `${dayOrPart(day)}: ${[runsText(of), ...shares, ...of.notes.map(({ text }) => `noted: ${text}`)].join(" · ")}`;
}
