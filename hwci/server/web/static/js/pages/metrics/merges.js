// SPDX-License-Identifier: Apache-2.0
// The table "Merges not checked on hardware" (spec, "Metrics page (dashboard)").

import { addressOf } from "../../address.js";
import { short } from "../../format.js";
import { html } from "../../html.js";
import { productColumn } from "../../parts/scope.js";
import { Section } from "../../parts/section.js";
import { PagedTable } from "../../parts/table.js";
import { Sha, Time } from "../../parts/values.js";

/** The table. */
export function UncheckedMerges({ address, base, orgId, scope, several, page, reviews }) {
  const columns = [
    { key: "sha", title: "Commit", sort: "sha", cell: (row) => commit(orgId, row) },
    ...productColumn(page.product, several),
    { key: "branch", title: "Branch", sort: "branch", cell: (row) => row.branch },
    { key: "mergedAt", title: "Merged", sort: "mergedAt", own: "down", cell: (row) => html`<${Time} at=${row.mergedAt} />` },
  ];
  return html`<${Section} title="Merges not checked on hardware" total=${page.uncheckedMerges.total} anchor="merges">
    <${PagedTable} name="merges" label="Merges not checked on hardware" thing="merge" path=${`${base}/unchecked-merges`}
      turn=${reviews.turn} query=${scope} address=${address} first=${page.uncheckedMerges} columns=${columns}
      rowKey=${(row) => `${row.repoKey} ${row.suite} ${row.sha}`}
      empty=${page.tiles.mergesChecked.announced
        ? "Every merge of this period ran on hardware."
        : html`No merge was announced in this period. A job that needs no hardware announces them: <code>hwci merge-announce</code>`} />
  <//>`;
}

/** What ran on the commit of a merge may say why nothing counts: it never reached the hardware, or ran no test. */
function commit(orgId, { repoKey, sha }) {
  return html`<${Sha} sha=${sha} /> <a class="plain" href=${addressOf("runs", { orgId }, { repoKey, sha })}
    aria-label=${`Runs on ${short(sha)}`}>runs</a>`;
}
