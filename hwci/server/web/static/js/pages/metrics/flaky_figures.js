// SPDX-License-Identifier: Apache-2.0
// The figures of "Flakiest tests", of a test on all its boxes or on one: each leads to exactly the runs that it counts
// (contract, "Runs").

import { addressOf } from "../../address.js";
import { count, counted, percent } from "../../format.js";
import { html } from "../../html.js";

/**
 * Key, title, the query that finds the runs behind the figure, and the words for one and many of them.
 * "Attempts" has no runs of its own: they are those of the first figure.
 * @type {[string, string, object?, [string, string?]?][]}
 */
const FIGURES = [
  ["runReports", "Run reports", {}, ["run"]],
  ["attempts", "Attempts"],
  ["failedAttempts", "Failed attempts", { failedAttempt: true }, ["failed attempt"]],
  ["retryPasses", "Passes on a retry", { retryPass: true }, ["pass on a retry", "passes on a retry"]],
];
const WITHIN = "Holds the true rate with 95 % certainty";

/** The columns of the figures; those of the table `sorted` by the API can be. A row with a `boxKey` is of that box. */
export function figureColumns({ period, orgId, sorted }) {
  return FIGURES.map(([key, title, asked, words]) => {
    return { key, title, sort: sorted ? key : undefined, numeric: true, cell: (row) => figure(row, key, period, orgId, asked, words) };
  });
}

/** A figure of a test, which leads to the runs that it counts. */
function figure(row, key, { from, to }, orgId, asked, words) {
  if (!words || row[key] === 0) return count(row[key]);
  const { repoKey, suite, testId, boxKey } = row;
  // A run that never reached the hardware counts in no row.
  const query = { repoKey, suite, testId, boxKey, status: "reported", helloOk: true, from, to, ...asked };
  const name = `${counted(row[key], ...words)} of ${testId}${boxKey === undefined ? "" : ` on ${boxKey}`}`;
  return html`<a class="plain" href=${addressOf("runs", { orgId }, query)} aria-label=${name}>${count(row[key])}</a>`;
}

/** A flake rate, and below it the range that holds the true one; its place is kept, so that nothing below moves. */
export function rate({ flakeRate }, interval, error) {
  if (error) return percent(flakeRate);
  return html`${percent(flakeRate)} <span class="under sure" title=${WITHIN}>${interval ?? "\u00a0"}</span>`;
}
