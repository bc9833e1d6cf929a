// SPDX-License-Identifier: Apache-2.0
// The address bar: how a page reads its state there and writes it. Visible state is in the address, so that a link shows
// another person the same thing. This module knows no page beyond its name.

import { chosen } from "./choices.js";
import { keep, kept } from "./kept.js";
import { pathOf, routeOf } from "./routes.js";

const watchers = new Set();
const seen = new Map();
const SEEN = "hwci-seen"; // kept in this tab, as a reload ends what a module knows

const SHORTER = 120; // pixels: a row may have gone away meanwhile, by a review

// Parameters of every page, which links between our pages keep.
const CARRIED = ["times"];

// Where the history is. `from`: the path that led to the page, and how many entries before this one it is; null
// where none of our pages did: a tab of its own, an address that was typed or sent.
let entry = { path: null, from: null };

/**
 * Return what the address bar holds: `{page, params, query, path}`. `page` is null if the address is not one
 * of ours; an address of an organization alone means its metrics.
 * @param {URL | Location | HTMLAnchorElement} location
 */
export function here(location = window.location) {
  const query = new URLSearchParams(location.search);
  const path = location.pathname + location.search;
  return { ...routeOf(location.pathname), query, path };
}

/**
 * Return the path, query and hash of an address if it is a page of an organization or of the account, else null.
 * Anybody may have written the address.
 */
export function oursOnly(address) {
  if (!address || !URL.canParse(address, window.location.origin)) return null;
  const url = new URL(address, window.location.origin);
  const { page, params } = here(url);
  const isOurs = url.origin === window.location.origin && page && (params.orgId || page === "account");
  return isOurs ? url.pathname + url.search + url.hash : null;
}

/** Write the address of a page. Parameters of its path are named; values of null are left out. */
export function addressOf(page, params = {}, query = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...carried(), ...query })) {
    if (value !== null && value !== undefined && value !== "") search.set(name, value);
  }
  const written = search.toString();
  return written ? `${pathOf(page, params)}?${written}` : pathOf(page, params);
}

function carried() {
  const query = new URLSearchParams(window.location.search);
  return Object.fromEntries(CARRIED.map((name) => [name, query.get(name)]));
}

/**
 * Go to one of our addresses. `replace`: replace the history entry of the page that is left; else the entry keeps
 * its scroll position.
 */
export function go(address, { replace = false } = {}) {
  if (!replace) noteScroll();
  const from = replace ? entry.from : fromHere(address);
  window.history[replace ? "replaceState" : "pushState"]({ from }, "", address);
  notifyWatchers();
}

/** What leads to an address: the page that is left or, if only a choice of it changes, what led to that. */
function fromHere(address) {
  const { page, path } = here();
  const isAnother = page !== here(new URL(address, window.location.origin)).page;
  return isAnother ? { path, steps: 1 } : oneFurther(entry.from);
}

function oneFurther(from) {
  return from && { ...from, steps: from.steps + 1 };
}

/** Change some parameters of the query; null takes one out. */
export function change(changes, options) {
  const query = new URLSearchParams(window.location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") query.delete(name);
    else query.set(name, value);
  }
  const written = query.toString();
  go(window.location.pathname + (written ? `?${written}` : ""), options);
}

/** Call `watcher` with every new address. Return a function that ends it. */
export function watch(watcher) {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/**
 * The page of this organization that led to the one that is shown: `{page, path, steps}`, `steps` entries of the
 * history before it; null if none did.
 */
export function cameFrom(orgId) {
  if (!entry.from) return null;
  const { page, params, path } = here(new URL(entry.from.path, window.location.origin));
  return page !== null && params.orgId === orgId ? { page, path, steps: entry.from.steps } : null;
}

/** The address, with all its state, of the last shown of these pages; undefined if none was shown yet. */
export function lastOf(...pages) {
  return [...seen.values()].findLast(({ page }) => pages.includes(page));
}

/**
 * Follow links to our own pages, and the browser's Back, without reloading the document. A link back has the steps
 * of the history in `data-back`: the page is found as it was left.
 */
export function followLinks() {
  recall();
  arrive();
  window.history.scrollRestoration = "manual"; // the browser would do it before the rows are there
  window.addEventListener("pagehide", noteScroll);
  window.addEventListener("scrollend", noteScroll); // a reload takes nothing that is noted as late as `pagehide`
  window.addEventListener("popstate", (event) => {
    notifyWatchers();
    if (event.state?.scroll !== undefined) scrollOnceThere(event.state.scroll);
  });
  document.addEventListener("click", (event) => {
    /** @type {HTMLAnchorElement} */
    const link = /** @type {Element} */ (event.target).closest?.("a[href]");
    if (!link || event.defaultPrevented || opensElsewhere(event, link)) return;
    if (here(link).page === null || isOnThisPage(link)) return;
    event.preventDefault();
    if (link.dataset.back) {
      window.history.go(-Number(link.dataset.back));
      return;
    }
    go(link.pathname + link.search + link.hash);
    window.scrollTo(0, 0);
  });
  if (window.history.state?.scroll) scrollOnceThere(window.history.state.scroll);
}

function opensElsewhere(event, link) {
  const asked = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  return asked || link.target || link.origin !== window.location.origin || link.hasAttribute("download");
}

function isOnThisPage(link) {
  const { pathname, search } = window.location;
  return link.hash && link.pathname === pathname && link.search === search;
}

function notifyWatchers() {
  arrive();
  for (const watcher of watchers) watcher(here());
}

/** Replace an address by the one that we write: no slash at the end, the page's own name, no choice of nothing. */
function settle() {
  const { pathname, search, hash } = window.location;
  const { page, params } = here();
  if (page === null) return;
  const path = pathOf(page, params) + chosen(search);
  if (path !== pathname + search) window.history.replaceState(window.history.state, "", path + hash);
}

/** Note the page that is shown now, and what led to it. */
function arrive() {
  settle();
  const shown = here();
  const { state } = window.history;
  const isPlace = state === null && shown.path === entry.path; // the browser's own entry for a place on the page
  const from = isPlace ? oneFurther(entry.from) : (state?.from ?? null);
  if (isPlace) window.history.replaceState({ from }, "");
  entry = { path: shown.path, from };
  note(shown);
}

function note(address) {
  seen.delete(address.page); // so that the last one shown is the last one noted
  seen.set(address.page, address);
  keepSeen();
}

function noteScroll() {
  window.history.replaceState({ ...window.history.state, scroll: window.scrollY }, "");
}

function keepSeen() {
  keep("sessionStorage", SEEN, JSON.stringify([...seen.values()].map(({ path }) => ({ path }))));
}

/** Load the pages shown before a reload, without those that are not a page of an organization as we write it. */
function recall() {
  for (const one of listOf(kept("sessionStorage", SEEN))) {
    const path = typeof one?.path === "string" ? oursOnly(one.path) : null;
    if (!path) continue;
    const address = here(new URL(path, window.location.origin));
    seen.set(address.page, address);
  }
}

function listOf(text) {
  try {
    const found = JSON.parse(text);
    return Array.isArray(found) ? found : [];
  } catch {
    return []; // damaged
  }
}

/** Restore a scroll position as soon as the page is long enough, unless its reader scrolls first. */
function scrollOnceThere(to) {
  const stop = new AbortController();
  const grown = new ResizeObserver(() => {
    if (document.documentElement.scrollHeight + SHORTER < to + window.innerHeight) return;
    window.scrollTo(0, to);
    stop.abort();
  });
  stop.signal.addEventListener("abort", () => grown.disconnect());
  for (const kind of ["wheel", "touchstart", "keydown", "pointerdown", "popstate"]) {
    window.addEventListener(kind, () => stop.abort(), { signal: stop.signal });
  }
  grown.observe(document.body);
}
