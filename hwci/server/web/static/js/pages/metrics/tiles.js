// SPDX-License-Identifier: Apache-2.0
// The four tiles (spec, "Metrics page (dashboard)"), each with its trend over the period. A number leads
// to its rows, here or on another page, where the dashboard lists them.

import { addressOf, change, go } from "../../address.js";
import { count, counted, percent, rangeOf, signed } from "../../format.js";
import { html, useLayoutEffect, useRef, useState } from "../../html.js";
import { scopeOf } from "../../parts/frame/scope.js";
import { Trend } from "../../parts/trend.js";
import { toCauses, toFailures } from "./cause_switch.js";
import { toLost } from "./lost_boards.js";
import { toMerges } from "./merges.js";
import { NOTHING_TO_COUNT, TITLES } from "../../words.js";

const WIDEST = { low: 0.888, high: 1 };
const WITHIN = "The range that holds the true share with 95 % certainty";

/**
 * The tiles of a page. `trend`: null while it loads; `against`: the period before, null while it loads; `causes`: how many
 * the real firmware bugs have, `lost`: how many of these lie in runs that lost the board, nothing while they load.
 */
export function Tiles({ page, trend, against, causes, lost, address }) {
  const [place, cursor] = useCursor(trend?.days);
  const { flakyFailures } = page.tiles;
  const { checked, announced } = page.tiles.mergesChecked;
  const unchecked = page.uncheckedMerges.total;
  const to = (part, changes) => ({ address, part, changes });
  const changed = (tile) => changeText(against, tile, scopeOf(address.query));
  const sure = (tile) => against?.tiles.find((one) => one.tile === tile).now;
  const ofDay = (part, shown) => (day) =>
    `${addressOf("metrics", address.params, { ...dayScope(address, day), ...shown(day) })}#${part}`;
  const charts = address.query.get("charts") === "open";
  return html`<section class=${charts ? "tiles with-charts" : "tiles"} aria-label="Tiles" ref=${place}>
    <${Tile} title=${TITLES.mergesChecked} ...${{ trend, cursor }} of=${(day) => day.mergesChecked}
      outOf=${(day) => day.mergesAnnounced} share=${(day) => day.checked} rowsOf=${ofDay("merges", shownMerges)}
      target=${trend?.targets?.mergesChecked} bound="at least"
      kind="good" all=${checked} changed=${changed("mergesChecked")}
      value=${html`<${Part} ...${to("merges", toMerges("checked"))}>${count(checked)}<//>`}
      from=${unchecked > 0 && html`and <${Part} ...${to("merges", toMerges(null))}>${count(unchecked)} not checked<//>`}
      beside=${announced === 0
        ? NOTHING_TO_COUNT.mergesChecked
        : html`of ${counted(announced, "merge")}${share(checked, announced, sure("mergesChecked"))}`} />
    <${RealBugsTile} ...${{ trend, cursor, causes, lost, to }} counts=${page.tiles.realFwBugs}
      rowsOf=${ofDay("bugs", () => toFailures("bugs"))} changed=${changed("realFwBugs")} />
    <${Tile} title=${TITLES.flakyFailures} ...${{ trend, cursor }} of=${(day) => day.flakyFailures} kind="warn"
      rowsOf=${(day) => addressOf("failures", address.params, { ...dayScope(address, day), label: "flake" })}
      changed=${changed("flakyFailures")} all=${flakyFailures.count}
      value=${html`<a href=${flakesOf(address)}>${count(flakyFailures.count)}</a>`}
      from=${page.flakiestTests.total > 0 && html`see <${Part} ...${to("flaky")}>Flakiest tests<//>`}
      beside="failing runs on commits that also passed" />
    <${InfraTile} ...${{ page, trend, cursor, address }} changed=${changed("infraRuns")} sure=${sure("infraRuns")} />
    <${ChartsSwitch} open=${charts} />
  </section>`;
}

/**
 * The day that all charts point at, as `Trend` takes it, and the reference to the tiles. The strips of tests below have it
 * from the page's style, as they are many and need not be drawn again.
 */
function useCursor(days) {
  const place = useRef(null);
  const cursor = useState(null);
  const [at] = cursor;
  useLayoutEffect(() => {
    const { style } = place.current.parentElement;
    style.setProperty("--pointed", at === null ? "" : `${(100 * at) / days.length}%`);
    style.setProperty("--day", at === null ? "" : `${100 / days.length}%`);
  }, [at, days]);
  return [place, cursor];
}

/** Folds the charts and unfolds them, on a phone alone: what fails now stands on its first screen. */
function ChartsSwitch({ open }) {
  const turn = () => change({ charts: open ? null : "open" }, { replace: true });
  return html`<button type="button" class="charts-switch" aria-pressed=${open ? "true" : "false"} onClick=${turn}>Charts</button>`;
}

function RealBugsTile({ trend, cursor, counts, causes, lost, changed, to, rowsOf }) {
  const others = [
    ["bench_or_harness", counts.benchOrHarness, "bench or harness"],
    ["ambiguous", counts.ambiguous, "ambiguous"],
    ...(counts.dismissed ? [["dismissed", counts.dismissed, "dismissed"]] : []),
  ];
  const beside = others.map(([name, value, text], i) => {
    const changes = { other: "open", ...toFailures("other"), "other.class": name };
    return html`${i > 0 && ", "}<${Part} ...${to("other", changes)}>${count(value)} ${text}<//>`;
  });
  const inLostRuns = lost > 0 && html`<${Part} ...${to("bugs", toLost("bugs"))}>${count(lost)} of them in runs
    that lost the board<//><br />`;
  return html`<${Tile} title=${TITLES.realFwBugs} ...${{ trend, cursor }} of=${(day) => day.realFwBugs} kind="bad"
    rowsOf=${rowsOf} changed=${changed} all=${counts.real}
    value=${html`<${Part} ...${to("bugs", toFailures("bugs"))}>${count(counts.real)}<//>`}
    from=${causes > 0 && html`from <${Part} ...${to("bugs", toCauses("bugs"))}>${counted(causes, "cause")}<//>`}
    beside=${html`${inLostRuns}${beside}`} />`;
}

function flakesOf({ params, query }) {
  return addressOf("failures", params, { ...scopeOf(query), label: "flake" });
}

function InfraTile({ page, trend, cursor, changed, sure, address }) {
  const { infra, total } = page.tiles.infraRuns;
  const { repoKey, suite } = scopeOf(address.query);
  const { from, to } = page.period;
  const runs = (more) => addressOf("runs", address.params, { repoKey, suite, status: "reported", from, to, ...more });
  return html`<${Tile} title=${TITLES.infraRuns} ...${{ trend, cursor }} of=${(day) => day.infraRuns} outOf=${(day) => day.runs}
    share=${(day) => day.infra} target=${trend?.targets?.infraRuns} bound="at most"
    rowsOf=${({ from, to }) => runs({ helloOk: false, from, to })}
    kind="warn" changed=${changed} all=${infra} value=${html`<a href=${runs({ helloOk: false })}>${count(infra)}</a>`}
    beside=${total === 0
      ? NOTHING_TO_COUNT.infraRuns
      : html`of <a href=${runs()}>${counted(total, "run report")}</a>${share(infra, total, sure)}`} />`;
}

function Tile({ title, value, from = null, all, beside, changed, trend, ...chart }) {
  return html`<article class="tile">
    <h2>${title}</h2>
    <p class="figure"><strong>${value}</strong>${from && html` <span class="quiet">${from}</span>`}</p>
    <p class="beside">${beside}</p>
    <p class="change">${changed}</p>
    <${Trend} days=${trend?.days} ...${{ ...chart, all, title }} />
  </article>`;
}

/** What is asked of a page for the rows of a day: what of it belongs to the period, which may be 25 hours or three. */
function dayScope({ query }, { from, to }) {
  return { ...scopeOf(query), days: null, from, asOf: to };
}

/** The merges that a bar counts; where it counts none, those that were not checked. */
function shownMerges({ mergesChecked }) {
  return toMerges(mergesChecked > 0 ? "checked" : null);
}

/** How a tile compares with the period before; its line is there before its words, so that nothing below moves. */
function changeText(against, name, { from }) {
  if (!against) return "\u00a0";
  const { days } = against.period;
  const before = from ? "time before" : days === 1 ? "day before" : `${days} days before`;
  if (against.missing) return `no ${before} to compare with`;
  const tile = against.tiles.find((one) => one.tile === name);
  if (tile.now.total !== null) {
    const { part, total } = tile.before;
    return total === 0 ? `none in the ${before}` : `${percent((100 * part) / total)} in the ${before}`;
  }
  return tile.change === 0 ? `as many as in the ${before}` : `${signed(tile.change)} against the ${before}`;
}

/** A share with the interval of `sure`, which comes later: its place is kept, so that nothing below moves. */
function share(part, whole, sure) {
  const within = html`<span class=${sure ? "range" : "range unknown"} title=${WITHIN}>(${rangeOf(sure ?? WIDEST)})</span>`;
  return html` · <span class="unbroken">${percent((100 * part) / whole)}</span> ${within}`;
}

/** A link to a part of this page; a click goes there without a new request. */
function Part({ address, part, changes = {}, children }) {
  const query = { ...Object.fromEntries(address.query), ...changes };
  const href = `${addressOf(address.page, address.params, query)}#${part}`;
  const follow = (event) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(href);
  };
  return html`<a href=${href} onClick=${follow}>${children}</a>`;
}
