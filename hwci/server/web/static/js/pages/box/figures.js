// SPDX-License-Identifier: Apache-2.0
// The figures of a box: its shares beside those of all other boxes together, and the tests that failed only on it.

import { count, counted, rangeOf, shareText } from "../../format.js";
import { html } from "../../html.js";
import { Empty, Renewing } from "../../parts/notices/notice.js";
import { TestLink } from "../../parts/values/past.js";
import { Period } from "../../parts/values/period.js";
import { PlainTable } from "../../parts/table/table.js";
import { COMPARED } from "../boxes/health.js";
import { Badge, Sha, Time } from "../../parts/values/values.js";
import { SHARES_OF_A_BOX } from "../../words.js";

const HOUR = 3600;

/** How the box compares. `loading`: what it does in another period is awaited. */
export function Against({ found, orgId, loading }) {
  const { box, tests } = found;
  return html`
    <p class="quiet"><${Period} ...${found.period} /> <${Renewing} on=${loading} /></p>
    <p>${box.comparison?.named && html`<${Badge} kind="bad" title="Worse than the others">worse<//> `}<strong>${box.answer}</strong>
      <span class="under">${box.evidence}</span></p>
    <${Same} ...${box} />
    ${tests.length > 0 && html`<ul>${tests.map((one) => html`<li key=${JSON.stringify([one.repoKey, one.suite, one.testId, one.before])}>
      <${TestLink} test=${one} orgId=${orgId} /> ${one.says}
    </li>`)}</ul>`}
  `;
}

/** The shares of all its runs, which do not say whether it is worse. */
export function Shares({ found }) {
  const { box, shares, others } = found;
  const rows = Object.entries(SHARES_OF_A_BOX).map(([key, title]) => (
    { share: key, title, box: shares[key], others: others?.[key] ?? null }
  ));
  return html`
    <p class="quiet">Boxes run different tests and commits, so these do not say which box is worse. Below each: the range that
      holds the true share with 95 % certainty.</p>
    <${PlainTable} name="shares" label="Shares" rows=${rows} rowKey=${({ share: key }) => key} columns=${COLUMNS} />
    <${LostRuns} runs=${[...box.lostRuns, ...(box.before?.lostRuns ?? [])]} />
    <p class="quiet">${counted(Math.round(found.boardSeconds / HOUR), "board hour")} in this period.
      Last run: <${Time} at=${box.lastRunAt} />. Last clean run: ${timeOrNone(found.lastCleanRunAt)}.
      ${" "}Last heartbeat: ${timeOrNone(box.lastSeenAt)}.</p>
  `;
}

/** The counts that are compared; an interval of each would not be that of their comparison. */
function Same({ counts: { failed, results, othersFailed, othersResults }, note, idle }) {
  if (results === 0) return null;
  const when = note ? (idle ? ", before the note" : ", since the note") : "";
  return html`<p>First attempts that failed, of the same tests on the same commits${when}:
    ${" "}<strong>${shareText({ part: failed, total: results })}</strong> here,
    ${" "}${shareText({ part: othersFailed, total: othersResults }) ?? "none"} on the others.</p>`;
}

/** Its boards against each other, the worst first. */
export function Boards({ boards }) {
  const columns = [{ key: "board", title: "Board", name: true, cell: ({ board }) => board }, ...COMPARED];
  return html`<${PlainTable} name="boards" label="Boards" rows=${boards} rowKey=${({ board }) => board} columns=${columns} />`;
}

/** The latest runs that lost their board, and from which test on. */
function LostRuns({ runs }) {
  if (runs.length === 0) return null;
  return html`<p>Lost its board:</p><ul>${runs.map((run) => html`<li key=${`${run.runId} ${run.runAttempt}`}>
    <${Time} at=${run.startedAt} />, run ${run.runId} at <${Sha} sha=${run.sha} repo=${run.repoKey} />: ${run.says}</li>`)}</ul>`;
}

function timeOrNone(at) {
  return at ? html`<${Time} at=${at} />` : "none";
}

const COLUMNS = [
  { key: "what", title: "Share", name: true, cell: ({ title }) => title },
  { key: "box", title: "This box", numeric: true, cell: ({ box }) => share(box) },
  { key: "others", title: "All others", numeric: true, cell: ({ others }) => share(others) },
];

function share(one) {
  if (!one) return html`<span class="quiet">none</span>`;
  return html`${shareText(one)} <span class="under">${rangeOf(one)}</span>`;
}

/** The tests whose first attempt failed here, and on no other box that ran them at the commit. */
export function Alone({ found: { alone, aloneTotal }, orgId }) {
  if (alone.length === 0) return html`<${Empty}>No test failed here, and on no other box, on two commits or more.<//>`;
  const columns = [
    { key: "test", title: "Test", name: true, cell: (row) => html`<${TestLink} test=${row} orgId=${orgId} />` },
    { key: "product", title: "Product", words: true, cell: ({ repoKey, suite }) => html`${suite} <span class="under">${repoKey}</span>` },
    { key: "commits", title: "Commits failed here alone", own: "down", numeric: true, cell: ({ commits }) => count(commits) },
    { key: "of", title: "Commits run here and on another box", numeric: true, cell: ({ of }) => count(of) },
  ];
  const rest = aloneTotal - alone.length;
  return html`
    <${PlainTable} name="failed-here-alone" label="Failed here alone" rows=${alone} columns=${columns}
      rowKey=${({ repoKey, suite, testId }) => JSON.stringify([repoKey, suite, testId])} />
    ${rest > 0 && html`<p class="quiet">${counted(rest, "more test")}</p>`}
  `;
}
