// SPDX-License-Identifier: Apache-2.0
// The parameters of an address that are a choice, and what each may be. Any other value chooses nothing and is taken out,
// so that the address says what is shown. Values that the API is asked for are not here: it refuses what it does not know.

const OPEN = ["open"];
const CHOICES = {
  times: ["exact"],
  zone: [], // always the reader's own
  charts: OPEN,
  failing: ["all"],
  daily: OPEN,
  timesToFix: OPEN,
  boxTrends: OPEN,
  merges: ["checked"],
  "merges.plan": OPEN,
  other: OPEN,
  "other.gaps": OPEN,
  "flaky.rank": ["low"],
  "flaky.tests": ["all"],
  list: ["reviewed"],
  commits: ["all"],
  checks: OPEN,
};
const OF_TABLES = { by: ["failure"], rows: ["all"] }; // after the name of a table and a dot
const BY_CAUSE = ["bugs", "other"]; // tables with a row for each cause, unless a row for each failure is chosen

/**
 * Return the query of an address, with its "?", without what chooses nothing. Causes cannot be sorted: an address that
 * sorts a table of them is from before they came first, and chooses failures.
 */
export function chosen(search) {
  const query = new URLSearchParams(search);
  const idle = [...query].filter(([name, value]) => !(valuesOf(name)?.includes(value) ?? true)).map(([name]) => name);
  const sorted = BY_CAUSE.filter((table) => query.get(`${table}.sort`) && query.get(`${table}.by`) !== "failure");
  if (idle.length === 0 && sorted.length === 0) return search;
  for (const name of idle) query.delete(name);
  for (const table of sorted) query.set(`${table}.by`, "failure");
  return query.size > 0 ? `?${query}` : "";
}

function valuesOf(name) {
  const part = name.split(".")[1];
  if (Object.hasOwn(CHOICES, name)) return CHOICES[name];
  return Object.hasOwn(OF_TABLES, part ?? "") ? OF_TABLES[part] : null;
}
