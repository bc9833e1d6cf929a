// SPDX-License-Identifier: Apache-2.0
// The figures of a test by box, each with a link to the runs that it counts, and what a retry gave.

import { addressOf } from "../../address.js";
import { count, counted, duration, percent, rangeOf } from "../../format.js";
import { html } from "../../html.js";
import { BoxLink } from "../../parts/values/past.js";
import { PlainTable } from "../../parts/table/table.js";
import { Time } from "../../parts/values/values.js";

/**
 * Key, title, and the query that finds the runs it counts; the list of runs knows no lost board.
 * @type {[string, string, object?][]}
 */
const FIGURES = [
  ["passed", "Runs passed"],
  ["retried", "On a retry", { retryPass: true }],
  ["failed", "Runs failed"],
  ["lost", "Runs lost"],
];
const VERDICTS = [
  ["device", "device"],
  ["infra", "infra"],
  ["unknown", "none reported"],
];

/** The boxes of a test, and all of them together in the last row. */
export function Boxes({ test, orgId }) {
  const rows = test.boxes.length > 1 ? [...test.boxes, { ...test.all, boxKey: null }] : test.boxes;
  const key = ({ boxKey }) => JSON.stringify(boxKey);
  return html`<${PlainTable} name="boxes-of-a-test" label="Boxes" rows=${rows} rowKey=${key} columns=${columns(test, orgId)} />`;
}

function columns({ repoKey, suite, testId, period }, orgId) {
  const runs = ({ boxKey }, asked) => {
    const query = { repoKey, suite, testId, boxKey, status: "reported", from: period.from, to: period.to, ...asked };
    return addressOf("runs", { orgId }, query);
  };
  const figure = (box, key, asked) => {
    if (!asked || box[key] === 0) return count(box[key]);
    return html`<a class="plain" href=${runs(box, asked)}>${count(box[key])}</a>`;
  };
  const named = ({ boxKey }) => (boxKey === null ? "All boxes" : html`<${BoxLink} boxKey=${boxKey} orgId=${orgId} />`);
  const runsOf = ({ boxKey }) => `Runs of ${testId} on ${boxKey ?? "all boxes"}`;
  return [
    { key: "box", title: "Box", name: true, cell: named },
    { key: "first", title: "First attempt failed", numeric: true, cell: ({ first }) => rate(first) },
    ...FIGURES.map(([key, title, asked]) => ({ key, title, numeric: true, cell: (box) => figure(box, key, asked) })),
    { key: "runs", title: "Runs", words: true, cell: (box) => html`<a href=${runs(box)} aria-label=${runsOf(box)}>runs</a>` },
    { key: "verdicts", title: "Harness verdicts", words: true, cell: verdicts },
    { key: "took", title: "Took", numeric: true, cell: took },
    { key: "lastRunAt", title: "Last run", words: true, cell: lastRun },
  ];
}

function lastRun({ lastRunAt }) {
  return html`<span class="unbroken"><${Time} at=${lastRunAt} /></span>`;
}

function rate(share) {
  const { part, total } = share;
  if (total === 0) return null;
  return html`${percent((100 * part) / total)} (${count(part)} of ${count(total)}) <span class="under">${rangeOf(share)}</span>`;
}

/** The middle duration, and below it what nine of ten runs took at most; those that passed at the first attempt. */
function took({ took: found }) {
  if (!found) return null;
  return html`${duration(found.middle, true)} <span class="under">9 of 10 in ${duration(found.nineOfTen, true)}</span>`;
}

function verdicts({ verdicts: found }) {
  const some = VERDICTS.filter(([key]) => found[key] > 0);
  return some.map(([key, word]) => `${count(found[key])} ${word}`).join(", ");
}

/** What trying again gave, and how the rates are to be read. */
export function Given({ test: { retries, reruns } }) {
  return html`<p>${given(retries, "Retried in the same run", "result")}
    ${" "}${given(reruns, "Run again on the commit and box of a failed run", "run")}</p>
    <p class="quiet">Below each rate: the range that holds the true rate with 95 % certainty. Rates leave out lost runs. “Took” has the
      runs that passed at the first attempt: half of them took no longer than the first time, nine of ten no longer than the second.</p>`;
}

function given({ tries, passed }, what, one) {
  if (tries === 0) return `${what}: none.`;
  return `${what}: ${counted(tries, one)}, of which ${count(passed)} passed then.`;
}
