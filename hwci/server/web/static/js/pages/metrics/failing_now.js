// SPDX-License-Identifier: Apache-2.0
// What fails now, a row for each incident: failures that one cause explains (contract, "Answers beside the
// rules"), in their order, each in one line that unfolds: broken ones as rows,
// probably flaky ones and those that are blamed on the bench folded to a
// line each. Those on branches that no merge went to are shown when they are asked for.

import { addressOf, change } from "../../address.js";
import { useAnswer } from "../../asking.js";
import { chanceText, count, counted } from "../../format.js";
import { html, useId, useState } from "../../html.js";
import { Failed, Waiting } from "../../parts/notices/notice.js";
import { LEFT_OUT } from "./first_page.js";
import { IncidentDays } from "./incident_days.js";
import { Branches, branchesOf } from "../../parts/frame/branches.js";
import { productColumn } from "../../parts/frame/scope.js";
import { BoxLink, HistoryLink } from "../../parts/values/past.js";
import { Section } from "../../parts/section.js";
import { PlainTable } from "../../parts/table/table.js";
import { Suspects } from "../../parts/values/suspects.js";
import { Badge, LongName, Sha, Subject, Time } from "../../parts/values/values.js";
import { verdict } from "../../parts/values/words.js";
import { BANDS, MAY_HAVE_BROKEN } from "../../words.js";

const MOST = 100; // incidents, where all are asked for
const NAMED = 2; // boxes of a line
const NONE = "No test is failing: each one that failed in this period has passed since.";
const NOTHING_RAN = "No run of this period was reported, so nothing is known to fail.";
const NONE_BROKEN = "No test is broken, as far as its runs tell.";
const NONE_OF_THESE = "No test is failing on these branches.";
const NONE_THERE = "No test is failing on a branch that merges of this period went to.";

/** The section. `figures`: of the page, which has the first incidents; children: below the incidents. */
export function FailingNow({ figures, address, orgId, scope, page, reviews, several, children }) {
  const [turned, setTurned] = useState([]); // bands that were unfolded, or folded where all are shown
  const [unfolded, setUnfolded] = useState([]); // incidents, by id: new figures leave them so
  const isAll = address.query.get("failing") === "all";
  const path = `/api/orgs/${orgId}/ci-analysis/incidents`;
  const branch = branchesOf(address.query);
  const ofAll = branch === null ? figures.data : null; // the figures are of all branches
  const query = { ...scope, label: "pending", branch };
  const first = ofAll?.incidents;
  const bands = ofAll?.bands ?? [];
  const elsewhere = figures.data?.incidentsElsewhere ?? 0;
  const isWhole = isAll || branch !== null;
  const isMore = isWhole || bands.some((one) => turned.includes(one.band) && rowsOf(first.items, one).length < one.incidents);
  const all = useAnswer(isMore ? path : null, { ...query, limit: MOST }, reviews.turn);
  const data = isMore ? (all.data ?? first) : first;
  const { error, again } = isMore && all.error ? all : figures;
  // Below the rows: what fails now is seen without scrolling.
  const branches = html`<p class="option"><${Branches} address=${address} /></p>`;
  if (!data || (isMore && all.error)) {
    const left = isMore ? html`<${Waiting} />` : figures.data && LEFT_OUT;
    const instead = error ? html`<${Failed} error=${error} again=${again} />` : left;
    return instead && html`<${Section} title="Failing now" anchor="failing">${instead}${branches}${children}<//>`;
  }
  const unfold = (id) => setUnfolded(unfolded.includes(id) ? unfolded.filter((one) => one !== id) : [...unfolded, id]);
  const columns = columnsOf(page, several, orgId, { unfolded, unfold });
  const items = isWhole ? data.items : data.items.filter((row) => row.onMergeBranch);
  const [broken, ...folded] = (ofAll?.bands ?? bandsOf(items)).map((one) => ({
    ...one,
    rows: rowsOf(items, one),
    total: one.incidents + (isAll ? one.elsewhere : 0),
    isOpen: turned.includes(one.band) !== isAll,
  }));
  const turn = (band) => setTurned(turned.includes(band) ? turned.filter((one) => one !== band) : [...turned, band]);
  const below = (row) => unfolded.includes(row.id) && html`<${More} row=${row} orgId=${orgId} />`;
  const table = { name: "failing-now", columns, rowKey: (row) => row.id, below };
  const nowhere = branch === null ? NONE : NONE_OF_THESE;
  const none = data.total === 0 ? (page.tiles.infraRuns.total ? nowhere : NOTHING_RAN) : items.length ? NONE_BROKEN : NONE_THERE;
  return html`<${Section} title="Failing now" total=${data.total} anchor="failing">
    ${broken.rows.length > 0
      ? html`<${PlainTable} ...${table} label="Failing now" rows=${broken.rows} saves=${{ path, query, total: data.total }} />`
      : html`<p class="empty">${none}</p>`}
    ${folded.filter(({ total }) => total > 0).map((one) => html`<${Folded} key=${one.band} ...${one} table=${table}
      isLoading=${isMore && !all.data} onTurn=${() => turn(one.band)} />`)}
    ${branches}
    ${first?.total > first?.items.length && html`<${All} isAll=${isAll} total=${data.total} elsewhere=${elsewhere} />`}
    ${isMore && data.total > MOST && html`<p class="quiet">The first ${count(MOST)} of ${count(data.total)}.</p>`}
    ${children}
  <//>`;
}

function columnsOf(page, several, orgId, { unfolded, unfold }) {
  const line = (row) => html`<${Line} row=${row} orgId=${orgId} isOpen=${unfolded.includes(row.id)}
    onTurn=${() => unfold(row.id)} />`;
  return [
    { key: "tests", title: "Test and box", name: true, cell: line },
    ...productColumn(page.product, several),
    { key: "since", fields: ["since", "firstCommit", "commits"], title: "Failing since", cell: since },
    { key: "suspects", fields: ["suspects", "lookFirst"], title: MAY_HAVE_BROKEN, cell: suspect },
    { key: "lastDays", title: "Last days", cell: (row) => html`<${IncidentDays} ...${row} />` },
  ];
}

/** How many rows each band has, where the figures of the page were left out. */
function bandsOf(rows) {
  return Object.keys(BANDS).map((band) => ({ band, incidents: rowsOf(rows, { band }).length, elsewhere: 0, firstTest: null }));
}

function rowsOf(rows, { band }) {
  return rows.filter((row) => row.band === band);
}

/** A band in one line, unfolded to its rows. */
function Folded({ band, rows, total, firstTest, table, isOpen, isLoading, onTurn }) {
  const id = useId();
  const others = total > 1 ? ` and ${counted(total - 1, "other")}` : "";
  return html`<div class="one-band">
    <button type="button" class="fold" aria-expanded=${isOpen ? "true" : "false"} aria-controls=${id} onClick=${onTurn}>
      ${BANDS[band]} <span class="total">${count(total)}</span></button>
    ${!isOpen && firstTest && html` <span class="quiet"><${LongName} name=${firstTest} />${others}</span>`}
    <div id=${id} hidden=${!isOpen}>${isOpen && (isLoading && rows.length < total
      ? html`<${Waiting} />`
      : html`<${PlainTable} ...${table} label=${BANDS[band]} rows=${rows} />`)}</div>
  </div>`;
}

function All({ isAll, total, elsewhere }) {
  const title = `Show all ${count(total)}${elsewhere ? `, ${count(elsewhere)} of them on other branches` : ""}`;
  const turn = () => change({ failing: isAll ? null : "all" }, { replace: true });
  return html`<p><button type="button" aria-pressed=${isAll ? "true" : "false"} onClick=${turn}>${title}</button></p>`;
}

/** The test of an incident, or how many, and where it fails, behind the button that unfolds the rest. */
function Line({ row, orgId, isOpen, onTurn }) {
  const { failures: [first], testsTotal, boxesTotal, boxes: [box] } = row;
  const what = testsTotal === 1 ? html`<${LongName} name=${first.testId} />` : counted(testsTotal, "test");
  const href = addressOf("failure", { orgId, failureId: first.id });
  const where = boxesTotal === 1 ? html`<${BoxLink} plain boxKey=${box} orgId=${orgId} />` : counted(boxesTotal, "box", "boxes");
  return html`<span class="incident"><button type="button" class="fold" aria-expanded=${isOpen ? "true" : "false"}
      aria-label=${`More of ${first.testId}`} onClick=${onTurn}></button>
    <a href=${href}>${what}</a> <span class="quiet">${where}</span></span>`;
}

/** What the line leaves out: each failure, the branch, what other boxes and other attempts say, and where to look first. */
function More({ row, orgId }) {
  const { branch, failures, failuresTotal, firstCommit, repoKey, commits, suite, suspects: range, lookFirst } = row;
  const { history, verdicts } = row;
  const rest = failuresTotal - failures.length;
  return html`<div class="incident-more">
    <p>${lookFirst} · <${HistoryLink} words="history, and how sure"
      test=${{ repoKey, suite, testId: failures[0].testId }} orgId=${orgId} /></p>
    ${history && html`<p>${history.says}</p>`}
    ${otherBoxes(row, orgId)}
    <p>${suite}, ${branch}, ${counted(commits, "commit")} failed, the first ${" "}<${Sha} sha=${firstCommit.sha} repo=${repoKey} />
      ${firstCommit.subject && html` <${Subject} text=${firstCommit.subject} repo=${repoKey} />`}</p>
    ${mergedTo(row)}
    <p>${MAY_HAVE_BROKEN}: <${Suspects} range=${range} repo=${repoKey} /></p>
    <p>Harness verdict: ${verdicts.map(verdict)} · ${runAgain(row)}</p>
    <ul class="commits">${failures.map((one) => html`<li key=${one.id}>
      <a href=${addressOf("failure", { orgId, failureId: one.id })}><${LongName} name=${one.testId} /></a>
      ${" "}on <${BoxLink} plain boxKey=${one.boxKey} orgId=${orgId} /></li>`)}</ul>
    ${rest > 0 && html`<p class="quiet">and ${count(rest)} more</p>`}
  </div>`;
}

/** The other boxes that passed on a failing commit, or that no other box runs it. */
function otherBoxes({ passesOn: boxes, passesOnTotal: total, onlyBox, boxes: [box], testsTotal }, orgId) {
  if (onlyBox) return html`<p>only ${box} runs ${testsTotal === 1 ? "this test" : "these tests"}</p>`;
  if (total === 0) return null;
  const named = boxes.slice(0, NAMED);
  const between = total > NAMED ? ", " : " and ";
  const where = html`${named.map((boxKey, at) => html`${at > 0 && between}<${BoxLink} plain boxKey=${boxKey} orgId=${orgId} />`)}
    ${total > NAMED && ` and ${count(total - NAMED)} more`}`;
  return html`<p>passes on ${where}, same commits</p>`;
}

function since({ repoKey: repo, since: at, firstCommit: { sha } }) {
  return html`<${Sha} sha=${sha} repo=${repo} /> <span class="unbroken"><${Time} at=${at} /></span>`;
}

/** What likely broke it: the bench, the commit by all runs of the test with how sure that is, or what the rules have. */
function suspect({ band, repoKey: repo, suspects: range, history }) {
  const commits = range?.commits ?? [];
  if (band === "bench") return "the bench";
  if (history && (commits.length === 0 || commits.some(({ sha }) => sha === history.sha))) {
    return html`<${Sha} sha=${history.sha} repo=${repo} />
      ${" "}<${Badge} kind="quiet" title=${history.says}>${chanceText(history.chance)}<//>`;
  }
  if (commits.length === 1) return html`<${Sha} sha=${commits[0].sha} repo=${repo} />`;
  return html`<span class="quiet">${range ? `one of ${counted(commits.length, "firmware commit")}` : "unknown"}</span>`;
}

/** What came of trying it again on the same commit and box. Had it passed once, it would be flaky. */
function runAgain({ testsTotal, runs, reruns, retries }) {
  const within = testsTotal === 1 ? ` in ${counted(runs, "run")}` : "";
  const retried = retries > 0 && `${counted(retries, "retry", "retries")}${within}`;
  const tried = [retried, reruns > 0 && counted(reruns, "rerun")].filter(Boolean);
  return tried.length ? `failed again: ${tried.join(", ")}` : "not tried again";
}

/** Where the failing commit was merged to since, and how the tests fare there. */
function mergedTo({ onMergeBranch, mergedInto: there }) {
  if (onMergeBranch) return null;
  if (!there) return html`<p>CI has not reported it as merged</p>`;
  const { branch, passing, failing, notRun } = there;
  return html`<p>merged to ${branch}: ${fares(passing, failing, notRun)}</p>`;
}

function fares(passing, failing, notRun) {
  const all = passing + failing + notRun;
  if (passing === all) return "passes there";
  if (failing === all) return "fails there too";
  if (notRun === all) return "not run there since";
  const of = [[passing, "passes", "pass"], [failing, "fails", "fail"], [notRun, "was not run", "were not run"]];
  return `${of.filter(([number]) => number > 0).map(([number, ...words]) => counted(number, ...words)).join(", ")} there`;
}
