// SPDX-License-Identifier: Apache-2.0
// The failures of a period one by one, each with its label (contract, "CI metrics"). Which of them are
// listed is in the address; the API decides their labels.

import { html, useRef } from "../html.js";
import { GivenTime } from "../parts/values/given_time.js";
import { useProducts } from "../parts/values/links.js";
import { Periods, Products, UpToNow, changeScope, scopeOf, severalRepositories } from "../parts/frame/scope.js";
import { PagedTable } from "../parts/table/table.js";
import { TurnOn } from "../parts/notices/turn_on.js";
import { ExactTimes } from "../parts/values/values.js";
import { failureColumns } from "./failures/columns.js";
import { Filters, NO_FILTERS, filtersOf } from "./failures/filters.js";
import { Nothing } from "./failures/nothing.js";

/** The page. */
export function Failures({ address, orgId, organization }) {
  const scope = scopeOf(address.query);
  const products = useProducts(orgId).data;
  const several = severalRepositories(products);
  return html`
    <div class="page-head">
      <h1>Failures</h1>
      ${scope.asOf && html`<p class="quiet">${scope.from ? html`<${GivenTime} at=${scope.from} /> to` : "up to"}
        ${" "}<${GivenTime} at=${scope.asOf} /></p>`}
      <${UpToNow} address=${address} scope=${scope} />
      <${ExactTimes} />
      <${Products} products=${products} scope=${scope} several=${several} />
      <${Periods} days=${scope.days} />
    </div>
    ${organization?.ciMetricsEnabled === false
      ? html`<${TurnOn} orgId=${orgId} />`
      : html`<${Listed} ...${{ address, orgId, scope, products, several }} />`}
  `;
}

function Listed({ address, orgId, scope, products, several }) {
  const filters = filtersOf(address.query);
  const first = useRef(null);
  /** @param {Record<string, unknown>} changes */
  const clear = (changes = NO_FILTERS) => {
    changeScope(changes);
    // The button that was pressed is gone; a group of choices has its focus where it is checked.
    const checked = "label" in changes ? "" : (filters.label ?? "");
    [...first.current.elements].find(({ value }) => value === checked)?.focus();
  };
  return html`<section class="part">
    <${Filters} orgId=${orgId} scope=${scope} filters=${filters} first=${first} clear=${clear} />
    <${PagedTable} foldsOnPhone name="failures" label="Failures" thing="failure" path=${`/api/orgs/${orgId}/ci-failures`} totalled
      query=${{ ...scope, ...filters }} address=${address} columns=${failureColumns(orgId, scope, several)}
      rowKey=${({ id }) => id}
      unknown=${html`<button type="button" onClick=${() => clear({ repoKey: null, suite: null })}>Show all products</button>`}
      empty=${html`<${Nothing} ...${{ orgId, scope, filters, products, clear }} />`} />
  </section>`;
}
