// SPDX-License-Identifier: Apache-2.0
// The columns of a failure.

import { count } from "../../format.js";
import { html } from "../../html.js";
import { knownBadge, labelBadge } from "../../parts/values/labels.js";
import { productColumn } from "../../parts/frame/scope.js";
import { Sha, Time } from "../../parts/values/values.js";
import { FailureLink, verdict } from "../../parts/values/words.js";

/** The columns of the list of failures. `product`: the one that it is about, or a test of it, `several`: repositories. */
export function failureColumns(orgId, product, several) {
  const test = (row) => html`<${FailureLink} failure=${row} orgId=${orgId} history=${!product.testId} />`;
  return [
    { key: "test", title: "Test and box", sort: "testId", name: true, cell: test },
    ...productColumn(product, several),
    { key: "label", fields: ["label", "known"], title: "Label", sort: "label", words: true, cell: label },
    { key: "sha", title: "Commit", sort: "sha", cell: (row) => html`<${Sha} sha=${row.sha} repo=${row.repoKey} />` },
    timeColumn("firstStartedAt", "First failed", "down"),
    timeColumn("lastStartedAt", "Last failed"),
    { key: "items", title: "Failing runs", sort: "items", numeric: true, cell: (row) => count(row.items) },
    { key: "verdict", title: "Harness verdict", sort: "verdict", words: true, cell: (row) => verdict(row.verdict) },
  ];
}

function label(row) {
  return html`${labelBadge(row.label)}${knownBadge(row.known)}`;
}

function timeColumn(key, title, own) {
  return { key, title, sort: key, own, words: true, cell: (row) => html`<${Time} at=${row[key]} />` };
}
