// SPDX-License-Identifier: Apache-2.0
// Which period and which products a page is about: read from the address, and chosen here (spec,
// "Metrics page (dashboard)").

import { addressOf, change, here, lastOf } from "../../address.js";
import { periodName, productName } from "../../format.js";
import { html } from "../../html.js";
import { later } from "../later.js";
import { Badge } from "../values/values.js";
import { Menu } from "./menu.js";

const Dates = later(() => import("./dates.js"), "Dates");

const PERIODS = [7, 30, 90];
export const DAYS_DEFAULT = 30; // of every page that has a period
const YEAR = 365; // days

const OF_DAYS = ["metrics", "failures", "review"];
const OF_PRODUCTS = [...OF_DAYS, "runs"];
const OF_PERIODS = [...OF_DAYS, "test", "box", "boxes", "commit"];
export const DAYS_MAX = 3650; // that the API takes
const DAY_MILLISECONDS = 86_400_000;
const CLOCKS_DIFFER_MILLISECONDS = 3_600_000; // at most: of the server and of a browser
const SHORT = 16; // characters of a name

const OF_OTHER_ROWS = /\.(page|boxes|cause)$|^cause$/;

/** Return the period and product of an address: with `from` no days. */
export function scopeOf(query) {
  const from = query.get("from");
  return {
    days: from ? null : query.get("days") || DAYS_DEFAULT,
    from,
    repoKey: query.get("repoKey"),
    suite: query.get("suite"),
    asOf: query.get("asOf"),
  };
}

/**
 * The query of a link to another page of the organization: the period and the product that were chosen last,
 * and nothing else. Runs have times in place of days, boxes no product.
 */
export function takenAlong(page, orgId) {
  if (page === "boxes") return periodOf(addressOfLast([...OF_DAYS, page], orgId).query);
  if (!OF_PRODUCTS.includes(page)) return {};
  const last = addressOfLast(OF_PRODUCTS, orgId);
  const { repoKey, suite } = scopeOf(last.query);
  const product = { repoKey, suite: repoKey && suite };
  if (page === "runs") return { ...product, ...timesOf(last) };
  return { ...periodOf(addressOfLast(OF_DAYS, orgId).query), ...product };
}

/** The period that was chosen in the address of this page, for a link to another that has one: its figures are of the same. */
export function periodHere() {
  const { page, query } = here();
  return OF_PERIODS.includes(page) ? periodOf(query) : {};
}

function periodOf(query) {
  return { days: query.get("days"), from: query.get("from"), asOf: query.get("asOf") };
}

function addressOfLast(pages, orgId) {
  const last = lastOf(...pages);
  return last?.params.orgId === orgId ? last : { query: new URLSearchParams() };
}

/** The period that an address asks for, as times; one without a choice asks for none. */
function timesOf({ page, query }) {
  if (page === "runs") return { from: query.get("from"), to: query.get("to") };
  const [days, asOf] = [Number(query.get("days")), query.get("asOf")];
  if (query.get("from")) return { from: query.get("from"), to: asOf };
  const end = asOf ? Date.parse(asOf) : Date.now();
  if (!(days >= 1 && days <= DAYS_MAX) || Number.isNaN(end)) return { to: asOf };
  return { from: new Date(end - days * DAY_MILLISECONDS).toISOString(), to: asOf };
}

/** The days of a period up to now that has a time in it: of those that are offered the shortest. */
export function daysBackTo(time) {
  const age = (Date.now() - Date.parse(time)) / DAY_MILLISECONDS;
  return PERIODS.find((days) => days > age) ?? Math.ceil(age) + 1;
}

/** A link from another period to the one up to now, and a word where it has not come yet. */
export function UpToNow({ address, scope }) {
  if (!scope.asOf) return null;
  const query = { ...Object.fromEntries(address.query), from: null, asOf: null };
  const isFuture = Date.parse(scope.asOf) > Date.now() + CLOCKS_DIFFER_MILLISECONDS;
  return html`${isFuture && html`<span class="quiet" role="status">ends in the future</span>`}
    <a class="quiet" href=${addressOf(address.page, address.params, query)}>up to now</a>`;
}

/** A link to the next longer period, for a page that shows nothing of this one, or not when it began. `days`: of this one. */
export function LookBack({ address, days, words = "" }) {
  const longer = [PERIODS.at(-1), YEAR].find((more) => more > days);
  if (!longer) return null;
  const query = { ...Object.fromEntries(address.query), from: null, days: longer };
  return html`<a href=${addressOf(address.page, address.params, query)}>${words}Look back ${longer} days</a>`;
}

/** The date control: days up to now, or two dates. An address may ask for other days, which then are one more choice. */
export function Periods({ days }) {
  const { from, asOf } = scopeOf(here().query);
  const chosen = Number(days);
  const offered = PERIODS.includes(chosen) || !chosen ? PERIODS : [...PERIODS, chosen].sort((a, b) => a - b);
  const choose = (period) =>
    changeScope({ days: period === DAYS_DEFAULT ? null : period, ...(from && { from: null, asOf: null }) });
  const byHand = (fold) => html`<${Dates} ...${{ from, asOf }} choose=${(period) => {
    fold();
    changeScope(period);
  }} />`;
  return html`<fieldset class="choice">
      <legend class="unseen">Period</legend>
      ${offered.map(
        (period) => html`<label key=${period}>
          <input type="radio" name="days" value=${period} checked=${period === chosen} onChange=${() => choose(period)} />
          <span>${period}d</span>
        </label>`,
      )}
    </fieldset>
    <${Menu} label=${datesName(from, asOf)} title="A period by its first and last day">${byHand}<//>`;
}

/** The dates that are shown, or that some can be chosen. */
function datesName(from, to) {
  const isPeriod = from && Date.parse(from) <= Date.parse(to);
  return isPeriod ? periodName({ from, to }) : "Dates";
}

/**
 * The product selector: all products, those of one repository where there are several, or one. A product without a suite
 * is a repository of which no product is known. `onChoose` takes the choice, by default the scope of the page; `first`: a
 * reference to the field.
 */
export function Products({ products, scope, several, onChoose = changeScope, first }) {
  const chosen = scope.repoKey || scope.suite ? optionValue(scope) : "";
  const choose = (event) => {
    const [repoKey, suite] = event.target.value ? JSON.parse(event.target.value) : [null, null];
    onChoose({ repoKey, suite });
  };
  const offered = [...repositories(products ?? [])];
  const values = offered.flatMap(([repoKey, suites]) =>
    [...(several ? [null] : []), ...suites].map((suite) => optionValue({ repoKey, suite })),
  );
  return html`<select ref=${first} class="product" aria-label="Product" value=${chosen} onChange=${choose}>
    <option value="">All products</option>
    ${chosen && !values.includes(chosen) && html`<option value=${chosen}>${scopeName(scope)}</option>`}
    ${offered.map(([repoKey, suites]) => {
      const options = suites.map((suite) => html`<option key=${suite} value=${optionValue({ repoKey, suite })}>${suite}</option>`);
      if (!several) return options;
      return html`<optgroup key=${repoKey} label=${repoKey}>
        <option value=${optionValue({ repoKey, suite: null })}>${allOf(repoKey)}</option>
        ${options}
      </optgroup>`;
    })}
  </select>`;
}

/**
 * The product's column, where all products are shown. `product`: the one that the page is about;
 * `several`: repositories.
 */
export function productColumn(product, several) {
  if (product?.suite) return [];
  const suite = (name) => (name ? html`<span class=${kept(name)}>${name}</span>` : html`<${Badge} kind="quiet">Unassigned<//>`);
  const cell = (row) => html`${suite(row.suite)}
    ${several && html`<span class=${`under ${kept(row.repoKey)}`}>${row.repoKey}</span>`}`;
  return [{ key: "product", title: "Product", sort: "suite", words: true, fixed: true, cell }];
}

/** The class of a name that is so short that it is not broken at its hyphens either. */
export function kept(name) {
  return name.length <= SHORT ? "unbroken" : "";
}

/** Change period, product or filter; the pages and open rows of the tables belong to the old choice, and are reset. */
export function changeScope(changes) {
  const left = [...new URLSearchParams(window.location.search).keys()].filter((name) => OF_OTHER_ROWS.test(name));
  change({ ...Object.fromEntries(left.map((name) => [name, null])), ...changes });
}

/** Whether products are of more than one repository, so that a product needs its repository's name. */
export function severalRepositories(products) {
  return repositories(products ?? []).size > 1;
}

function repositories(products) {
  const suites = new Map();
  for (const { repoKey, suite } of [...products].sort(byName)) {
    suites.set(repoKey, [...(suites.get(repoKey) ?? []), ...(suite === null ? [] : [suite])]);
  }
  return suites;
}

function byName(a, b) {
  return a.repoKey.localeCompare(b.repoKey) || (a.suite ?? "").localeCompare(b.suite ?? "");
}

function optionValue({ repoKey, suite }) {
  return JSON.stringify([repoKey, suite]);
}

function scopeName({ repoKey, suite }) {
  return suite ? productName({ repoKey, suite }, Boolean(repoKey)) : allOf(repoKey);
}

function allOf(repoKey) {
  return `All of ${repoKey}`;
}
