// SPDX-License-Identifier: Apache-2.0
// The parameters of an address that are a choice, and what each may be. Any other value chooses nothing and is taken out,
// so that the address says what is shown. Values that the API is asked for are not here: it refuses what it does not know.

const OPEN = ["open"];
const CHOICES = {
  times: ["exact"],
  zone: [], // always the reader's own
  branches: ["default", "others"],
  charts: OPEN,
  failing: ["all"],
  daily: OPEN,
  timesToFix: OPEN,
  merges: ["checked"],
  "merges.plan": OPEN,
  other: OPEN,
  "other.gaps": OPEN,
  "flaky.rank": ["low"],
  "flaky.tests": ["all", "flaked"],
  list: ["reviewed"],
  commits: ["all"],
  checks: OPEN,
};
const OF_TABLES = { by: ["failure", "cause"], rows: ["all"], lost: ["only"] }; // after the name of a table and a dot
const BY_CAUSE = ["bugs", "other"]; // tables with a row for each failure, or for each cause where that is chosen

/**
 * Return the query of an address, with its "?", without what chooses nothing. Causes cannot be sorted: an address that sorts
 * a table of them means failures. One that unfolds a cause and chooses no rows is from when causes came first.
 */
export function chosen(search) {
  const query = new URLSearchParams(search);
  const idle = [...query].filter(([name, value]) => !mayBe(name, value)).map(([name]) => name);
  for (const name of idle) query.delete(name);
  const rows = BY_CAUSE.map((table) => [`${table}.by`, rowsOf(table, query)]);
  const other = rows.filter(([name, value]) => query.get(name) !== value);
  if (idle.length === 0 && other.length === 0) return search;
  for (const [name, value] of other) query.set(name, value);
  return query.size > 0 ? `?${query}` : "";
}

/** Whether a parameter of an address may have a value. */
export function mayBe(name, value) {
  return valuesOf(name)?.includes(value) ?? true;
}

/** What an address says that the rows of a table are; null: nothing. */
function rowsOf(table, query) {
  const by = query.get(`${table}.by`);
  if (query.get(`${table}.sort`)) return by && "failure";
  return by ?? (query.get(`${table}.cause`) ? "cause" : null);
}

function valuesOf(name) {
  const part = name.split(".")[1];
  if (Object.hasOwn(CHOICES, name)) return CHOICES[name];
  return Object.hasOwn(OF_TABLES, part ?? "") ? OF_TABLES[part] : null;
}
