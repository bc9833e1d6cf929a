// SPDX-License-Identifier: Apache-2.0
// Rows of the tables of resolved failures that lie in runs that lost their board (contract, "Answers beside the rules"):
// marked, shown alone, and reviewed together. The tables and tiles count them as any other, as the rules do.

import { change } from "../../address.js";
import { useAnswer } from "../../asking.js";
import { count, counted } from "../../format.js";
import { html } from "../../html.js";
import { Answer } from "../../parts/reviews/answer.js";
import { Badge } from "../../parts/values/values.js";
import { toFailures } from "./cause_switch.js";
import { IN_LOST_RUNS } from "../../words.js";

const ONLY = "only";
const TOGETHER = 100; // the most that the API gives at once
const WHY = "In the run the board was lost at this test or before it: what failed from there on says little";

/** What of a table is empty where only such rows are asked for. */
export const NONE_LOST = "No failure here lies in a run that lost the board. “Show all” leads back to the others.";

/** Whether a table shows such rows alone. */
export function isOnlyLost(name, query) {
  return query.get(`${name}.lost`) === ONLY;
}

/** What an address is changed by to show such rows of a table alone. */
export function toLost(name) {
  return { ...toFailures(name), [`${name}.lost`]: ONLY };
}

/** Return by the figures of the page whether a failure is such a row. */
export function lostIn(figures) {
  const ids = new Set(figures.data?.lostBoards?.failures);
  return ({ id }) => ids.has(id);
}

/** The mark of a row: of all its failures, or of how many of them. */
export function BoardLost({ failures, isLost }) {
  const lost = failures.filter(isLost).length;
  if (lost === 0) return null;
  const of = lost < failures.length && ` (${count(lost)} of ${count(failures.length)})`;
  return html`<span class="under"><${Badge} kind="warn" title=${WHY}>board lost${of}<//></span>`;
}

/** Which rows a table asks for where such rows are shown alone. `table`: as the API names it. */
export function lostRows({ orgId, query, table }) {
  return { path: `/api/orgs/${orgId}/ci-analysis/lost-boards/resolved`, query: { ...query, table } };
}

/**
 * Above a table: how many of its rows are such, and the way to them; where they are shown alone, the way back and their
 * review. `number`: of these rows, nothing where it is not known; `rows`: of `lostRows`.
 */
export function LostBoards({ name, label, address, number, rows, reviews }) {
  if (!isOnlyLost(name, address.query)) {
    return number > 0 && html`<p class="quiet">${count(number)} ${IN_LOST_RUNS}. <button type="button"
      aria-label=${`Show them alone: ${label}`} onClick=${() => change(toLost(name))}>Show them alone</button></p>`;
  }
  return html`<p>Only failures in runs that lost the board: most of them say nothing about the firmware. <button type="button"
      aria-label=${`Show all: ${label}`} onClick=${() => change(toFailures(name))}>Show all</button></p>
    ${reviews.may && html`<${Together} ...${{ name, rows, reviews }} />`}`;
}

/** Confirm, Dismiss and Reset of all of them, with one note. */
function Together({ name, rows, reviews }) {
  const { data } = useAnswer(rows.path, { ...rows.query, limit: TOGETHER }, reviews.turn);
  if (!data?.items.length) return null;
  const { together, review, draft, now } = reviews;
  const failures = data.items.map(now);
  const all = counted(failures.length, "failure");
  const which = data.total > failures.length ? `the newest ${all} of ${count(data.total)}` : `all ${all}`;
  return html`<section class="below" aria-label="Review together">
    <p class="quiet">Reviewed together, ${which}:</p>
    <${Answer} ...${{ cause: { id: `lost.${name}`, failures }, name: `${all} in runs that lost the board`, together, review, draft }} />
  </section>`;
}
