// SPDX-License-Identifier: Apache-2.0
// Which runs are shown: read from the address, and chosen here.

import { change } from "../../address.js";
import { useAll } from "../../asking.js";
import { html, useId, useLayoutEffect, useState } from "../../html.js";
import { GivenTime } from "../../parts/values/given_time.js";
import { useProducts } from "../../parts/values/links.js";
import { Products, severalRepositories } from "../../parts/frame/scope.js";

// A status is a `status` of the API or, of a reported run, an `ending`.
const STATUSES = [
  ["running", "Running"],
  ["reported", "Reported"],
  ["lost", "Lost"],
];
const ENDINGS = [
  ["passed", "Passed"],
  ["failed", "Failed"],
  ["never-reached", "Never reached"],
];
const REACHED = [
  ["true", "Reached"],
  ["false", "Never reached"],
];
// What a test did in a run; only links set it.
const OF_TEST = {
  retryPass: { true: "in which it passed on a retry", false: "in which it did not pass on a retry" },
  failedAttempt: { true: "in which an attempt failed", false: "in which no attempt failed" },
};
const FIELDS = [
  ...["repoKey", "suite", "branch", "boxKey", "sha", "ciRun", "status", "ending", "helloOk", "from", "to", "testId"],
  ...Object.keys(OF_TEST),
];

/** What removes all filters from the address, and the page number with them. */
export const NO_FILTERS = Object.fromEntries([...FIELDS, "runs.page"].map((name) => [name, null]));
const NO_RESULTS = { ...Object.fromEntries(Object.keys(OF_TEST).map((name) => [name, null])), "runs.page": null };
const NO_TEST = { ...NO_RESULTS, testId: null };
const NO_TIMES = { from: null, to: null, "runs.page": null };

/** Return the filters of an address. */
export function filtersOf(query) {
  return Object.fromEntries(FIELDS.map((name) => [name, query.get(name)]));
}

/** Whether there is any filter. */
export function isFiltered(filters) {
  return FIELDS.some((name) => filters[name]);
}

/** Whether this may be the beginning of a commit's hash, or none is asked for. */
export function isHashStart(sha) {
  return !sha || /^[0-9a-f]{4,64}$/i.test(sha);
}

/** The fields, one for each filter. `first`: a reference to the first of them; `clear(some = all)` empties them. */
export function Filters({ orgId, organization, filters, first, clear }) {
  const products = useProducts(orgId, organization?.ciMetricsEnabled).data;
  const boxes = useAll(`/api/orgs/${orgId}/boxes`).data;
  const set = (changes) => change({ ...changes, "runs.page": null });
  const typed = (name) => ({ value: filters[name] ?? "", onSet: (value) => set({ [name]: value }) });
  const known = useId();
  return html`<div class="filters" role="search" aria-label="Filter runs">
    <label>Product
      <${Products} products=${products} scope=${filters} several=${severalRepositories(products)} onChoose=${set} first=${first} />
    </label>
    <label>Status <${Chosen} value=${filters.ending ?? filters.status} among=${[...STATUSES, ...ENDINGS]}
      onSet=${(word) => set(ofStatus(word))} /></label>
    <label>Hardware
      <${Chosen} value=${filters.helloOk} among=${REACHED} onSet=${(helloOk) => set({ helloOk })} />
    </label>
    <label>Branch <${Typed} ...${typed("branch")} maxlength="255" /></label>
    <label>Box <${Typed} ...${typed("boxKey")} maxlength="255" list=${known} /></label>
    <datalist id=${known}>${boxes?.map(({ id, name }) => html`<option key=${id} value=${name} />`)}</datalist>
    <label class="hash">Commit
      <${Typed} ...${typed("sha")} maxlength="64" placeholder="From 4 digits" spellcheck="false"
        autocomplete="off" />
    </label>
    <label>CI number <${Typed} ...${typed("ciRun")} onSet=${(text) => set({ ciRun: text.replace(/\D/g, "") })}
      inputmode="numeric" maxlength="19" autocomplete="off" /></label>
    ${isFiltered(filters) && html`<button type="button" onClick=${() => clear()}>Clear filters</button>`}
    <${OfTest} filters=${filters} clear=${clear} />
    <${Started} ...${filters} clear=${clear} />
  </div>`;
}

function ofStatus(word) {
  return ENDINGS.some(([ending]) => ending === word) ? { status: null, ending: word } : { status: word, ending: null };
}

/** The test that all the runs have, and what it did there. */
function OfTest({ filters, clear }) {
  const results = Object.keys(OF_TEST).filter((name) => filters[name]);
  if (!filters.testId && results.length === 0) return null;
  return html`<p class="only">Only runs of <strong>${filters.testId ?? "a test"}</strong>
    ${results.map((name, i) => `${i > 0 ? " and" : ""} ${OF_TEST[name][filters[name]] ?? `${name}=${filters[name]}`}`)}
    ${results.length > 0 && html` <button type="button" onClick=${() => clear(NO_RESULTS)}>Show all its runs</button>`}
    ${" "}<button type="button" onClick=${() => clear(NO_TEST)}>Show all tests</button></p>`;
}

/** The times between which the runs began; only links set them. */
function Started({ from, to, clear }) {
  if (!from && !to) return null;
  return html`<p class="only">Started
    ${from && html` from <${GivenTime} at=${from} />`}
    ${to && html` to <${GivenTime} at=${to} />`}
    ${" "}<button type="button" onClick=${() => clear(NO_TIMES)}>Show all times</button></p>`;
}

function Chosen({ value, among, onSet }) {
  return html`<select value=${value ?? ""} onChange=${(event) => onSet(event.target.value)}>
    <option value="">Any</option>
    ${among.map(([one, title]) => html`<option key=${one} value=${one}>${title}</option>`)}
  </select>`;
}

/** A field whose text counts once it is done: with Enter, or when it is left. */
function Typed({ value, onSet, ...field }) {
  const [text, setText] = useState(value);
  // Before the first paint: later, it would empty a field that someone has begun to fill.
  useLayoutEffect(() => setText(value), [value]);
  return html`<input ...${field} value=${text} onInput=${(event) => setText(event.target.value)}
    onChange=${(event) => onSet(event.target.value.trim())} />`;
}
