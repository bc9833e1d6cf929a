// SPDX-License-Identifier: Apache-2.0
// What an event of a stream changes on a page (contract, "Runs and streams"): the one place that decides whether it
// says all, so that the page shows it without asking. Where it does not, null: the page asks again.

const ITS_PLACE = ["repoKey", "suite", "workflow", "branch", "sha", "ciRun", "startedAt"]; // of a run in a list

/**
 * Show an answer as it is `after` an event, or `ask` for it: so too while another answer is on its way, which may be
 * older than the event. `held`: a reference to the answer (`useAnswer`).
 */
export function putAfter(held, ask, after) {
  const { data, loading, put } = held.current ?? { data: null };
  const now = data && !loading ? after(data) : null;
  if (!now) return ask();
  if (now === data) return undefined;
  held.current = { ...held.current, data: now }; // the next event may come before it is drawn
  return put(now);
}

/** A run record after an event of it. */
function runAfter(run, { type, run: now, tests }) {
  if (now) return { ...run, ...now };
  if (type === "run.lost") return { ...run, status: "lost" };
  if (run.status === "reported") return run; // the report has other counts
  return run.status === "running" && tests ? { ...run, tests } : null;
}

/** A run with its tests after an event of it. Its report has more than the event says. */
export function detailAfter(run, event) {
  if (event.run) return null;
  const now = runAfter(run, event);
  if (!now || !event.test || run.status === "reported") return now;
  const item = { durationS: null, verdict: null, message: null, ...event.test };
  const isKnown = run.items.some(({ id }) => id === item.id);
  return { ...now, items: isKnown ? run.items.map((one) => (one.id === item.id ? item : one)) : [...run.items, item] };
}

/** A page of the list of runs after an event of any run. `isFiltered`: it does not list all runs. */
export function runsAfter(list, event, isFiltered) {
  const was = list.items.find(({ id }) => id === event.runId);
  if (!was) return event.run ? withNew(list, event.run, isFiltered) : isFiltered ? null : list;
  const now = runAfter(was, event);
  if (was.result && event.run) return null; // the event does not say what the run gave for a test
  const stays = now && ITS_PLACE.every((name) => now[name] === was[name]);
  if (!stays || (isFiltered && now.status !== was.status)) return null;
  return { ...list, items: list.items.map((one) => (one === was ? now : one)) };
}

/** A run that is newer than all others is new, and the first. */
function withNew(list, run, isFiltered) {
  const [first] = list.items;
  const isNewest = !first || Date.parse(run.startedAt) > Date.parse(first.startedAt);
  if (isFiltered || list.page > 1 || !isNewest) return null;
  return { ...list, items: [run, ...list.items].slice(0, list.limit), total: list.total + 1 };
}
