// SPDX-License-Identifier: Apache-2.0
// The metrics page (spec, "Metrics page (dashboard)"): which period and which product is looked at, and
// what is shown of it. The API computes every figure.

import { addressOf, change } from "../address.js";
import { useAnswer, useAsked } from "../asking.js";
import { moment, periodName, timeOfDay } from "../format.js";
import { html, useEffect, useRef } from "../html.js";
import { later } from "../parts/later.js";
import { useProductsOf } from "../parts/values/links.js";
import { Failed, Renewing, Waiting } from "../parts/notices/notice.js";
import { NothingReported } from "../parts/notices/nothing_reported.js";
import { isAdmin } from "../parts/frame/roles.js";
import { Periods, Products, UpToNow, scopeOf, severalRepositories } from "../parts/frame/scope.js";
import { Collapsed, showSection } from "../parts/section.js";
import { useWaiting } from "../parts/frame/waiting.js";
import { ExactTimes } from "../parts/values/values.js";
import { useOwnDays } from "../parts/zone.js";
import { RealBugs } from "./metrics/bugs.js";
import { FailingNow } from "./metrics/failing_now.js";
import { LEFT_OUT } from "./metrics/first_page.js";
import { Merges } from "./metrics/merges.js";
import { OtherFailures, useOtherCauses } from "./metrics/other.js";
import { useReviews } from "./metrics/review.js";
import { useSwitches } from "./metrics/switches.js";
import { Tiles } from "./metrics/tiles.js";
import { WaysOn } from "./metrics/ways_on.js";
import { TITLES } from "../words.js";

const OLD_MILLISECONDS = 60_000; // figures up to now

// The last table: its code is not among what goes before the tiles.
const FlakiestTests = later(() => import("./metrics/flaky.js"), "FlakiestTests");

// What is shown to few, or rarely.
const Days = later(() => import("./metrics/days.js"), "Days");
const TimesToFix = later(() => import("./metrics/times_to_fix.js"), "TimesToFix");
const TurnOn = later(() => import("../parts/notices/turn_on.js"), "TurnOn");
const FirstSteps = later(() => import("./metrics/first_steps.js"), "FirstSteps");

/** The metrics page. It never shows another organization's figures under this one's name. */
export function Metrics(props) {
  return html`<${MetricsOf} key=${props.orgId} ...${props} />`;
}

function MetricsOf({ address, orgId, organization, me }) {
  const turn = useSwitches(me, address);
  const scope = scopeOf(address.query);
  const base = `/api/orgs/${orgId}/ci-metrics`;
  const page = useAnswer(base, scope);
  // All other figures wait for the tiles at first: a server answers few at a time.
  const begun = useOnce(isDone(page));
  const reviews = useReviews(orgId, page, isAdmin(organization), me);
  // All figures beside the tiles (ADR 0013).
  const figures = useOwnDays(begun ? `/api/orgs/${orgId}/ci-analysis/page` : null, scope, reviews.turn);
  useWaiting(orgId, figures.loading ? undefined : (figures.data?.causesToReview ?? undefined));
  const lastTable = useAsked(begun ? "the last table" : null, {}, 0, FlakiestTests.load);
  const causes = useOtherCauses({ address, orgId, scope, turn: reviews.turn, may: begun });
  const products = useProductsOf(orgId, figures.data?.products ?? null);
  // A question or a review that waits for its answer is not asked anew meanwhile.
  const isUpToNow = !scope.asOf && !page.loading && page.error === null;
  useRenewal(() => isUpToNow && !reviews.isUnderWay() && reviews.renew());
  // Reviewers see one column more: wait for the role, so that no row moves when it comes.
  // Where there is nothing, the products tell whether it is the beginning.
  const isNamed = products !== null || figures.error !== null;
  const isThere = page.data !== null && organization !== undefined && (isNamed || !isBlank(page.data));
  // The tables are below what fails now and below each other, and name products: they wait for all that, so that they do
  // not move.
  const isReady = useOnce(isNamed && isDone(lastTable) && !causes?.loading);
  const isWhole = isThere && isReady;
  useEffect(() => {
    if (isWhole) showSection(window.location.hash.slice(1));
  }, [address, isWhole]);
  // A merge may be the first that names its repository, and name no product of it.
  const unassigned = figures.data?.unassignedRepositories ?? [];
  const known = products && [...products, ...unassigned.map((repoKey) => ({ repoKey, suite: null }))];
  const several = severalRepositories(known);
  return html`
    <div class="page-head">
      <h1>Metrics</h1>
      <${Renewing} on=${page.data && page.loading} />
      <p class="quiet period">${page.data && html`<${PeriodShown} ...${page.data.period} />`}</p>
      <${UpToNow} address=${address} scope=${scope} />
      <${ExactTimes} />
      <${Products} products=${known} scope=${scope} several=${several} />
      <${Periods} days=${scope.days} />
    </div>
    ${page.error && html`<${Refused} page=${page} orgId=${orgId} address=${address} />`}
    ${!page.error && !isThere && html`<${Waiting} />`}
    ${isThere && !isRefused(page.error) &&
      html`<${Shown} ...${{ address, orgId, organization, scope, base, several, page, products, reviews, figures, causes, turn }}
        isWhole=${isWhole} />`}
    <div class="toast" role="status" tabindex="-1" ref=${reviews.toast}>${reviews.message}</div>
  `;
}

/** Whether something was so once. */
function useOnce(isSo) {
  const was = useRef(false);
  was.current ||= isSo;
  return was.current;
}

function isDone({ data, error }) {
  return data !== null || error !== null;
}

function PeriodShown({ from, to }) {
  return html`<span title=${`${moment(from)} to ${moment(to)}`}>${periodName({ from, to })}, as of ${timeOfDay(new Date(to))}</span>`;
}

/**
 * Ask again for figures up to now once they are old, as long as somebody looks at them; of a hidden page when it is seen again.
 * What is unfolded, written or scrolled to stays: the same rows are drawn anew.
 */
function useRenewal(renew) {
  const latest = useRef(renew);
  latest.current = renew;
  useEffect(() => {
    let at = performance.now();
    const look = () => {
      if (document.hidden || performance.now() - at < OLD_MILLISECONDS) return;
      at = performance.now();
      latest.current();
    };
    const timer = window.setInterval(look, OLD_MILLISECONDS);
    document.addEventListener("visibilitychange", look);
    return () => {
      window.clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
}

function Shown({ page, products, isWhole, ...rest }) {
  const { figures } = rest;
  const data = page.data;
  if (products?.length === 0 && isBlank(data)) {
    return html`<${FirstSteps} orgId=${rest.orgId} organization=${rest.organization} />`;
  }
  const table = { ...rest, page: data, products };
  const asked = { orgId: rest.orgId, scope: { ...rest.scope, asOf: data.period.to } };
  return html`<div class="figures" aria-busy=${page.isOther ? "true" : "false"}>
    ${products !== null && isBlank(data) &&
      html`<${NothingReported} ...${{ products }} address=${rest.address} scope=${rest.scope} period=${data.period} />`}
    <${Tiles} page=${data} trend=${figures.data?.days} against=${figures.isOther ? null : figures.data?.trends}
      causes=${figures.data?.realBugCauses?.total} lost=${figures.data?.lostBoards?.realBugs} address=${rest.address} />
    ${!isWhole && html`<${Waiting} />`}
    ${isWhole && html`
      <${FailingNow} ...${table}><${WaysOn} ...${table} /><//>
      <${Folded} address=${rest.address} title="Day by day" anchor="daily">
        ${figures.data?.days === null ? LEFT_OUT : html`<${Days} trend=${{ ...figures, data: figures.data?.days ?? null }} />`}<//>
      <${Folded} address=${rest.address} title=${TITLES.timesToFix} anchor="times" name="timesToFix">
        <${TimesToFix} ...${asked} turn=${rest.reviews.turn} /><//>
      <${Merges} ...${table} />
      <${RealBugs} ...${table} />
      <${OtherFailures} ...${table} />
      <${FlakiestTests} ...${table} />`}
  </div>`;
}

/** Collapsed until its title is clicked. `name`: of its state in the address. */
function Folded({ address, title, anchor, name = anchor, children }) {
  const open = address.query.get(name) === "open";
  const toggle = () => change({ [name]: open ? null : "open" }, { replace: true });
  return html`<${Collapsed} ...${{ title, anchor, open }} onToggle=${toggle}>${children}<//>`;
}

/** Whether nothing was reported or announced in a period. */
function isBlank(page) {
  const { mergesChecked, infraRuns } = page.tiles;
  return mergesChecked.announced === 0 && infraRuns.total === 0;
}

/** Whether the address itself is refused: the figures are those of another one. */
function isRefused(error) {
  return error !== null && !error.isPassing;
}

function Refused({ page, orgId, address }) {
  if (page.error.status === 403) return html`<${TurnOn} orgId=${orgId} />`;
  const all = { ...Object.fromEntries(address.query), repoKey: null, suite: null };
  return html`<${Failed} error=${page.error} again=${page.again}>
    ${page.error.status === 404 && html`<p><a href=${addressOf("metrics", address.params, all)}>Show all products</a></p>`}
  <//>`;
}
