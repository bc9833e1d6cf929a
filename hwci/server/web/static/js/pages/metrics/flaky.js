// SPDX-License-Identifier: Apache-2.0
// The table "Flakiest tests" (spec, "Metrics page (dashboard)"), with a heat strip per test.

import { change } from "../../address.js";
import { useAnswer } from "../../asking.js";
import { count, percent, range } from "../../format.js";
import { html, useEffect, useRef, useState } from "../../html.js";
import { Failed } from "../../parts/notices/notice.js";
import { Branches, branchesOf } from "../../parts/frame/branches.js";
import { productColumn } from "../../parts/frame/scope.js";
import { Section } from "../../parts/section.js";
import { FEW, PagedTable, tableState } from "../../parts/table/table.js";
import { OnBox, TestLink } from "../../parts/values/past.js";
import { Badge } from "../../parts/values/values.js";
import { useOwnDays } from "../../parts/zone.js";
import { firstOf } from "./first_page.js";
import { Unfolded } from "./flaky_boxes.js";
import { figureColumns, rate } from "./flaky_figures.js";
import { HeatStrip } from "./heat.js";
import { IT_NEVER_PASSED } from "../../words.js";

const NONE = "No attempt of a test failed in this period. Try a longer one.";
const ALL_BROKEN = "Each test with a failed attempt is broken: none is flaky.";
const NO_FLAKE = "None of its failures is a flake, and no retry passed: it is or was broken on the commits where it failed";
const NONE_OF_THESE = "No attempt of a test failed on these branches in this period.";
const NEAR = "400px"; // below the visible part
const FEWER = "flaked"; // in the address: tests that never flaked are left out

/** The table. The strips are asked for when it comes near, once for each page of it. */
export function FlakiestTests({ address, base, orgId, scope, several, page, figures, reviews, turn }) {
  const { sort, whole, query: asked } = tableState("flaky", address.query);
  const analysis = `/api/orgs/${orgId}/ci-analysis/flaky-tests`;
  const ranked = address.query.get("flaky.rank") === "low";
  const byLow = ranked && sort === null; // a column that is sorted by goes before
  const branch = branchesOf(address.query);
  const isOurs = byLow || branch !== null; // the specification's table is in its own order, and of all branches
  const table = isOurs ? analysis : `${base}/flakiest-tests`;
  const [place, near] = useNear();
  const { total } = page.flakiestTests;
  const fewer = branch === null && address.query.get("flaky.tests") === FEWER;
  const flaked = flaking(figures);
  const kind = fewer && figures.data?.flakyTests ? flaked : {}; // else nothing says which to leave out
  const first = isOurs ? undefined : fewer ? firstOf(figures, ({ flakyTests }) => flakyTests) : page.flakiestTests;
  const others = total - (figures.data?.flakyTests?.total ?? total);
  const wanted = near && total > 0 && !(figures.loading && fewer);
  const rank = { branch, ...(byLow ? { rankBy: "lowerBound" } : {}) };
  const answer = useOwnDays(wanted ? `${table}/history` : null, { ...scope, ...asked, ...kind, ...rank });
  const histories = new Map(answer.data?.items.map((one) => [keyOf(one), one]));
  // Rows that are ranked by it have their interval themselves.
  const sure = useAnswer(wanted && !isOurs ? analysis : null, { ...scope, ...asked, ...kind, detail: "rates" });
  const within = new Map(sure.data?.items.map((row) => [keyOf(row), sureOf(row)]));
  const few = whole ? {} : { limit: FEW }; // an answer takes longer than a row
  const answers = useAnswer(wanted ? analysis : null, { ...scope, ...asked, ...few, ...kind, ...rank, detail: "answers" });
  const answered = new Map(answers.data?.items.map((one) => [keyOf(one), one]));
  const unfolded = address.query.get("flaky.boxes");
  const suspects = useAnswer(wanted && unfolded !== null ? analysis : null, { ...scope, ...asked, ...few, ...kind, ...rank });
  const heat = (row) => html`<${HeatStrip} history=${histories.get(keyOf(row))} days=${answer.data?.days} />`;
  const boxes = (row) => html`<${Boxes} row=${row} open=${unfolded === keyOf(row)} />`;
  const columns = [
    { key: "test", title: "Test", sort: "testId", name: true, cell: (row) => test(row, orgId, answered.get(keyOf(row))) },
    ...productColumn(page.product, several),
    { key: "boxes", title: "Boxes", sort: "boxes", numeric: true, cell: boxes },
    ...figureColumns({ period: page.period, orgId, sorted: true }),
    {
      key: "flakeRate", fields: ["flakeRate", "low", "high"], title: "Flake rate",
      sort: "flakeRate", own: byLow ? undefined : "down", numeric: true,
      cell: (row) => rate(row, isOurs ? sureOf(row) : within.get(keyOf(row)), sure.error),
    },
    ...(byLow ? [{ key: "low", title: "At least", own: "down", numeric: true, cell: atLeast }] : []),
    { key: "heat", title: "Failed attempts by day", numeric: true, cell: heat },
  ];
  const suspected = (row) => suspects.data?.items.find((one) => keyOf(one) === keyOf(row));
  const below = (row) => unfolded === keyOf(row) && html`<${Unfolded} row=${row} history=${histories.get(keyOf(row))}
    suspect=${suspected(row)} ...${{ answer, suspects, orgId, period: page.period }} />`;
  const shown = branch === null ? total : answer.data?.total;
  return html`<${Section} title="Flakiest tests" ...${{ total: shown, rows: fewer ? total - others : shown }} anchor="flaky">
    <div ref=${place}></div>
    <p class="option"><${Branches} address=${address} /></p>
    ${branch === null && (fewer || others > 0) && html`<${Others} ...${{ fewer, turn }} number=${others}
      what=${flaked.flaked ? "without a flake" : "broken"} />`}
    ${total > 0 && html`<${Rank} on=${byLow} />`}
    ${answer.error?.isPassing &&
      html`<${Failed} error=${answer.error} again=${answer.again}><p>The failed attempts by day are not shown.</p><//>`}
    <${PagedTable} folds unfolds="flaky.boxes" name="flaky" label="Flakiest tests" thing="test" path=${table}
      query=${{ ...scope, ...kind, ...(isOurs ? { ...rank, detail: "rates" } : {}) }} first=${first} turn=${reviews.turn} address=${address}
      columns=${columns} below=${below} rowKey=${keyOf}
      empty=${branch !== null ? NONE_OF_THESE : total > 0 ? ALL_BROKEN : NONE} />
  <//>`;
}

/**
 * Which tests stay where those that never flaked are left out (ADR 0013): those of which a flake was seen. Where none was,
 * those that passed at all.
 */
function flaking({ data }) {
  return data?.flakyTests?.items.some((row) => !hasNoFlake(row)) ? { flaked: "true" } : { broken: "false" };
}

/** Whether an element has come near the visible part of the page. */
function useNear() {
  const place = useRef(null);
  const [near, setNear] = useState(false);
  useEffect(() => {
    const seen = (entries) => entries.some((entry) => entry.isIntersecting) && setNear(true);
    const observer = new IntersectionObserver(seen, { rootMargin: `0px 0px ${NEAR}` });
    observer.observe(place.current.closest("section"));
    return () => observer.disconnect();
  }, []);
  return [place, near];
}

/** The switch that leaves tests out, with a sentence about them: a tooltip would be missed. `turn`: of `useSwitches`. */
function Others({ fewer, turn, number, what }) {
  const onClick = () => turn({ "flaky.tests": fewer ? "all" : FEWER, "flaky.page": null });
  return html`<p class="option"><button type="button" aria-pressed=${fewer ? "true" : "false"} onClick=${onClick}>
      Leave out the ${count(number)} ${what}</button>
    ${" "}<span class="quiet">A test that never passed where it failed was broken there, not flaky: fix it like a bug.</span></p>`;
}

/** The switch between the rate as it was counted and what it is at least; a tooltip would be missed. */
function Rank({ on }) {
  const turn = () => change({ "flaky.rank": on ? null : "low", "flaky.sort": null, "flaky.page": null });
  return html`<p class="option"><button type="button" aria-pressed=${on ? "true" : "false"} onClick=${turn}>Surest first</button>
    ${" "}<span class="quiet">Ranks by what the flake rate is at least, with 95 % certainty: one failure in two runs does not
      stand above forty in a hundred.</span></p>`;
}

function sureOf({ low, high }) {
  return range(low, high);
}

function atLeast({ low }) {
  return low === null ? html`<span class="quiet">not enough data</span>` : percent(low);
}

/** Whether a test never passed in the period. It follows from the row (semantics, 9.3). */
function isBroken({ attempts, failedAttempts }) {
  return failedAttempts === attempts;
}

/** Whether a test passed on none of the commits on which it failed: it is broken there, whatever its rate. */
function hasNoFlake({ flakyFailures, retryPasses }) {
  return flakyFailures === 0 && retryPasses === 0;
}

function keyOf({ repoKey, suite, testId }) {
  return JSON.stringify([repoKey, suite, testId]);
}

/** A test, which leads to its own page, and below it whether it fails now or whom to suspect; its place is kept. */
function test(row, orgId, answered) {
  const answer = answered?.answer ?? "\u00a0";
  return html`<${TestLink} test=${row} orgId=${orgId} />
    ${isBroken(row) ? html` <${Badge} kind="bad" title=${IT_NEVER_PASSED}>broken<//>`
      : hasNoFlake(row) && html` <${Badge} kind="quiet" title=${NO_FLAKE}>no flake seen<//>`}
    ${" "}<span class="under whom" title=${answered?.answer}>${answered?.answerBox
      ? html`<${OnBox} words=${answer} boxKey=${answered.answerBox} orgId=${orgId} />` : answer}</span>`;
}

function Boxes({ row, open }) {
  const turn = () => change({ "flaky.boxes": open ? null : keyOf(row) }, { replace: true });
  return html`<button type="button" class="fold" aria-expanded=${open ? "true" : "false"}
    aria-label=${`${count(row.boxes)}, show the boxes of ${row.testId}`} onClick=${turn}>${count(row.boxes)}</button>`;
}
