// SPDX-License-Identifier: Apache-2.0
// What the finder has below its field: the tests, commits, boxes, products and pages that fit what is typed. The API
// finds tests, commits and the merges that no run checked; of boxes and products all are known, and they are looked
// through here.

import { addressOf, go } from "../../address.js";
import { useAll, useAnswer } from "../../asking.js";
import { count, productName, short } from "../../format.js";
import { html, useEffect, useId, useLayoutEffect, useMemo, useState } from "../../html.js";
import { daysBackTo, severalRepositories, takenAlong } from "./scope.js";

const SHOWN = 8; // of each kind
const DAYS = 90; // of merges: the longest that the page of metrics offers
const TYPING_PAUSE_MILLISECONDS = 250;
const HASH_START = /^[0-9a-f]{4,64}$/i;

/**
 * What fits `text`. `isKnown`: it is known what the reader may see; `entered`: Enter was pressed, and one goes to the
 * first as soon as all is found, or to what the arrow keys chose; `setList` takes what the field tells of the list,
 * `move` the function that goes up and down in it; `leave()`: one goes elsewhere.
 */
export function Found({ orgId, organization, isKnown, places, text, entered, setEntered, setList, move, leave }) {
  const { groups, faults, waits } = useFound(orgId, organization, places, text.trim());
  const found = groups.flatMap(({ items }) => items);
  const [at, setAt] = useState({ text, id: null }); // what the arrow keys chose of the list for this text
  const own = found.find(({ id }) => at.text === text && id === at.id);
  const chosen = own ?? found[0];
  const list = useId();
  const idOf = (item) => `${list}-${found.indexOf(item)}`;
  const visit = (item) => {
    leave(); // which gives the focus back
    go(item.address);
    window.scrollTo(0, 0);
  };
  move.current = (step) => setAt({ text, id: found[(found.indexOf(chosen) + step + found.length) % found.length]?.id });
  const active = chosen && idOf(chosen);
  useLayoutEffect(() => setList({ id: list, chosen: active }), [active]);
  useEffect(() => chosen && document.getElementById(active).scrollIntoView({ block: "nearest" }), [chosen?.id]);
  const isDue = Boolean(entered && isKnown && (!waits || own));
  useEffect(() => {
    if (!isDue) return;
    setEntered(false);
    if (chosen) visit(chosen);
  }, [isDue]);
  return html`<p class="quiet" role="status">${said(found.length, waits, text)}</p>
    ${faults.map((fault) => html`<p class="fault" role="alert" key=${fault.message}>${fault.message}</p>`)}
    <div role="listbox" id=${list} aria-label="Found">
      ${groups.map((group) => html`<${Group} key=${group.title} ...${{ group, idOf, chosen, leave: visit }} />`)}
    </div>`;
}

function Group({ group: { title, items, total }, idOf, chosen, leave }) {
  const name = total > items.length ? `${title}: ${count(items.length)} of ${count(total)}` : title;
  const id = useId();
  return html`<div role="group" aria-labelledby=${id}>
    <div class="quiet" id=${id}>${name}</div>
    ${items.map((item) => html`<div role="option" key=${item.id} id=${idOf(item)} onClick=${() => leave(item)}
      aria-selected=${item === chosen ? "true" : "false"}>${item.title} <span class="quiet">${item.beside}</span></div>`)}
  </div>`;
}

function said(number, waits, text) {
  if (waits) return "Searching…";
  if (number > 0) return html`${count(number)} found.<span class="by-key"> Arrow keys choose, Enter goes there.</span>`;
  return `Nothing fits “${text}”. Part of a name is enough; of a commit, 4 characters.`;
}

/** What fits a text, by kind: `{groups, faults, waits}`. */
function useFound(orgId, organization, places, text) {
  const base = `/api/orgs/${orgId}`;
  const isOn = organization?.ciMetricsEnabled === true; // else the API refuses
  const settled = useSettled(text);
  const hash = HASH_START.test(settled) ? settled : null;
  const products = useAll(isOn ? `${base}/products` : null);
  const boxes = useAll(`${base}/boxes`, { reported: true });
  const tests = useAnswer(isOn && settled ? `${base}/ci-analysis/tests` : null, { search: settled, limit: SHOWN });
  const runs = useAnswer(hash ? `${base}/runs` : null, { sha: hash, limit: 100 });
  const merges = useAnswer(hash && isOn ? `${base}/ci-analysis/unchecked-merges` : null, { search: hash, days: DAYS, limit: SHOWN });
  // A merge may be the first that names its repository, and name no product of it.
  const several = severalRepositories([...(products.data ?? []), ...(merges.data?.items ?? [])]);
  const groups = useMemo(() => {
    const kinds = [
      ["Pages", places.map((place) => page(place, orgId)).filter(fits(text))],
      ["Products", text ? (products.data ?? []).map((one) => product(one, orgId, several)).filter(fits(text)) : []],
      ["Boxes", text ? (boxes.data ?? []).map((one) => box(one, orgId)).filter(fits(text)) : []],
      ["Commits", hash && runs.data ? commits(runs.data.items, orgId) : []],
      ["Merges not checked", hash && merges.data ? merges.data.items.map((one) => merge(one, orgId, several)) : [], merges.data?.total],
      ["Tests", settled && tests.data ? tests.data.items.map((one) => test(one, orgId, several)) : [], tests.data?.total],
    ];
    const all = kinds.map(([title, items, total]) => ({ title, items: items.slice(0, SHOWN), total: total ?? items.length }));
    return all.filter(({ items }) => items.length > 0);
  }, [text, settled, several, products.data, boxes.data, tests.data, runs.data, merges.data]);
  const asked = [products, boxes, tests, runs, merges];
  const faults = asked.map(({ error }) => error).filter(Boolean);
  return { groups, faults, waits: text !== settled || asked.some(({ loading }) => loading) };
}

/** A text once nothing more is typed. */
function useSettled(text) {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), TYPING_PAUSE_MILLISECONDS);
    return () => window.clearTimeout(timer);
  }, [text]);
  return settled;
}

/** Whether all words of a text occur in an item. */
function fits(text) {
  const words = text.toLowerCase().split(/\s+/);
  return ({ title, beside = "" }) => words.every((word) => `${title}\n${beside}`.toLowerCase().includes(word));
}

function page([name, title], orgId) {
  return { id: `page ${name}`, title, address: addressOf(name, { orgId }, takenAlong(name, orgId)) };
}

function product({ repoKey, suite }, orgId, several) {
  const address = addressOf("metrics", { orgId }, { repoKey, suite });
  return { id: `product ${repoKey} ${suite}`, title: productName({ repoKey, suite }, several), beside: "metrics", address };
}

function box({ name }, orgId) {
  return { id: `box ${name}`, title: name, address: addressOf("box", { orgId }, { boxKey: name }) };
}

function test({ repoKey, suite, testId }, orgId, several) {
  const address = addressOf("test", { orgId }, { repoKey, suite, testId });
  return { id: `test ${repoKey} ${suite} ${testId}`, title: testId, beside: productName({ repoKey, suite }, several), address };
}

/** The commits of runs, each once. */
function commits(runs, orgId) {
  const found = new Map(runs.map((run) => [`commit ${run.repoKey} ${run.sha}`, run]));
  return [...found].map(([id, { repoKey, sha, branch, startedAt }]) => {
    const address = addressOf("commit", { orgId }, { days: daysBackTo(startedAt), repoKey, sha });
    return { id, title: short(sha), beside: branch, address };
  });
}

/** A merge with the cause for which it is unchecked: who looks it up asks for that. */
function merge({ repoKey, suite, sha, branch, causeText }, orgId, several) {
  const address = addressOf("commit", { orgId }, { days: DAYS, repoKey, sha });
  const beside = [causeText, productName({ repoKey, suite: suite ?? "Unassigned" }, several), branch].join(" · ");
  return { id: `merge ${repoKey} ${suite} ${sha}`, title: short(sha), beside, address };
}
