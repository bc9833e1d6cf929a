// SPDX-License-Identifier: Apache-2.0
// Which box fails more than the others on the same commits, and the figures of each box (ADR 0010). The API decides
// every sentence and figure.

import { addressOf } from "../../address.js";
import { useAnswer } from "../../asking.js";
import { count, counted, rangeOf, shareText } from "../../format.js";
import { html } from "../../html.js";
import { Failed, Renewing } from "../../parts/notices/notice.js";
import { Branches } from "../../parts/frame/branches.js";
import { LookBack } from "../../parts/frame/scope.js";
import { BoxLink, OnBox, TestLink } from "../../parts/values/past.js";
import { Period } from "../../parts/values/period.js";
import { PlainTable } from "../../parts/table/table.js";
import { Section } from "../../parts/section.js";
import { Badge, Time } from "../../parts/values/values.js";
import { NEVER_REACHED } from "../../words.js";

const HOUR = 3600;

/** Fetch the comparison if CI Metrics is on, and again when `turn` changes. `isThere`: no answer is awaited. */
export function useHealth(orgId, organization, scope, turn) {
  const path = organization?.ciMetricsEnabled ? `/api/orgs/${orgId}/ci-analysis/boxes` : null;
  const { data, error, again, loading } = useAnswer(path, scope, turn);
  return { data, error, again, loading, isThere: organization !== undefined && (path === null || data !== null || error !== null) };
}

/** The section; nothing if CI Metrics is off. */
export function BoxHealth({ health: { data, error, again, loading }, address, orgId }) {
  const fault = error && html`<${Failed} error=${error} again=${again} />`;
  if (!data) return fault;
  const branches = html`<p class="option"><${Branches} address=${address} /></p>`;
  const renewing = html`<${Renewing} on=${loading} />`; // the rows are of the period before
  if (data.boxes.length === 0) {
    return html`${fault}${branches}<p class="quiet"><${Period} ...${data.period} />: no run was reported, so there is no box to compare.
      ${" "}<${LookBack} address=${address} days=${data.period.days} /> ${renewing}</p>`;
  }
  return html`${fault}<${Section} title="Boxes compared" total=${data.boxesTotal}>
    <p class="quiet"><${Period} ...${data.period} />. First attempts that failed, on the same tests and commits. ${renewing}</p>
    ${branches}
    <${PlainTable} name="boxes-compared" label="Boxes compared" rows=${data.boxes}
      rowKey=${({ boxKey }) => boxKey} columns=${columns(orgId, data.period)} />
    ${rest(data.boxesTotal - data.boxes.length, "box", "boxes")}
    ${data.tests.length > 0 && html`<ul class="commits">${data.tests.map((one) => html`<li
        key=${`${one.repoKey} ${one.suite} ${one.testId} ${one.boxKey}`}>
      <${TestLink} test=${one} orgId=${orgId} /> <${OnBox} words=${one.says} boxKey=${one.boxKey} orgId=${orgId} />
    </li>`)}</ul>`}
    ${rest(data.testsTotal - data.tests.length, "test", "tests")}
  <//>`;
}

/** How boxes compare, or the boards of one. @type {any[]} */
export const COMPARED = [
  { key: "says", fields: ["says", "answer", "evidence"], title: "Against the others", own: "down", words: true, cell: said },
  { key: "neverReached", title: NEVER_REACHED, cell: ({ neverReached }) => share(neverReached, shareText(neverReached)) },
  { key: "lost", fields: ["lostBoard", "lostRuns"], title: "Lost its board", cell: lost },
  { key: "boardSeconds", title: "Board hours", numeric: true, cell: ({ boardSeconds }) => count(Math.round(boardSeconds / HOUR)) },
  { key: "lastCleanRunAt", title: "Last clean run", words: true, cell: clean },
];

/** The same of boxes, each with a link to itself and to its runs that never reached the hardware. */
function columns(orgId, period) {
  const unreached = { status: "reported", helloOk: false };
  const lostRuns = (box) => addressOf("runs", { orgId }, { boxKey: box.boxKey, ...unreached, ...timesOf(box, period) });
  const linked = (box) => share(
    box.neverReached,
    html`<a href=${lostRuns(box)} title=${`Runs of ${box.boxKey} that ${NEVER_REACHED.toLowerCase()}`}>${shareText(box.neverReached)}</a>`,
  );
  return [
    { key: "box", title: "Box", name: true, cell: ({ boxKey }) => html`<${BoxLink} boxKey=${boxKey} orgId=${orgId} />` },
    ...COMPARED.map((column) => (column.key === "neverReached" ? { ...column, cell: linked } : column)),
  ];
}

/** The times of which the figures of a box are: since its note or, where it has not run since, before it. */
function timesOf({ note, idle }, { from, to }) {
  if (!note) return { from, to };
  return idle ? { from, to: note.at } : { from: note.at, to };
}

function said({ answer, evidence, comparison }) {
  const worse = comparison?.named && html`<${Badge} kind="bad" title="Worse than the others">worse<//> `;
  return html`${worse}${answer}<span class="under">${evidence}</span>`;
}

function lost({ lostBoard, lostRuns }) {
  if (!lostBoard) return null;
  return html`<span class="unbroken" title=${lostRuns.map(({ says }) => says).join("\n") || undefined}>${shareText(lostBoard)}</span>`;
}

function clean({ lastCleanRunAt }) {
  return lastCleanRunAt ? html`<span class="unbroken"><${Time} at=${lastCleanRunAt} /></span>` : html`<span class="quiet">none</span>`;
}

function share(one, text) {
  return html`${text} <span class="under" title="Holds the true share with 95 % certainty">${rangeOf(one)}</span>`;
}

function rest(number, one, many) {
  return number > 0 && html`<p class="quiet">${counted(number, `more ${one}`, `more ${many}`)}</p>`;
}
