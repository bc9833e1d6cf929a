// SPDX-License-Identifier: Apache-2.0
// The inbox of reviews: resolved failures that nobody reviewed, a row for each cause, ambiguous ones first; or in its place
// those that somebody did, to be decided anew. The list, and the row that is looked at, are in the address.

import { addressOf, change } from "../address.js";
import { useAnswer } from "../asking.js";
import { count } from "../format.js";
import { html, useState } from "../html.js";
import { useProducts } from "../parts/values/links.js";
import { Failed, Waiting } from "../parts/notices/notice.js";
import { isAdmin } from "../parts/frame/roles.js";
import { Periods, Products, UpToNow, scopeOf, severalRepositories } from "../parts/frame/scope.js";
import { Tools, WORTH_A_SEARCH, tableState } from "../parts/table/table.js";
import { useTitle } from "../parts/frame/title.js";
import { useWaiting } from "../parts/frame/waiting.js";
import { TurnOn } from "../parts/notices/turn_on.js";
import { ExactTimes } from "../parts/values/values.js";
import { ASKED } from "./review/causes.js";
import { Inbox } from "./review/inbox.js";
import { REVIEWED, TO_REVIEW } from "./review/lists.js";

/** The page. */
export function Review({ address, orgId, organization, me }) {
  const scope = scopeOf(address.query);
  const products = useProducts(orgId, organization?.ciMetricsEnabled).data;
  const path = `/api/orgs/${orgId}/ci-analysis/causes`;
  const asked = tableState("review", address.query);
  const list = address.query.get("list") === REVIEWED.name ? REVIEWED : TO_REVIEW;
  const query = { ...scope, ...list.asks, limit: ASKED, search: asked.search || null };
  const answer = useAnswer(organization?.ciMetricsEnabled ? path : null, query);
  const isThere = answer.data && me;
  const [waiting, setLeft] = useState(0);
  const left = isThere ? waiting : 0;
  useWaiting(orgId, isThere && list === TO_REVIEW && !asked.search ? left : undefined);
  useTitle(left > 0 ? `Review (${count(left)})` : "Review");
  return html`
    <div class="page-head">
      <h1>Review${left > 0 && html` <span class="total" title="Causes to review">${count(left)}</span>`}</h1>
      <${UpToNow} address=${address} scope=${scope} />
      <${ExactTimes} />
      <${Lists} list=${list} />
      <${Products} products=${products} scope=${scope} several=${severalRepositories(products)} />
      <${Periods} days=${scope.days} />
    </div>
    ${organization?.ciMetricsEnabled === false && html`<${TurnOn} orgId=${orgId} />`}
    ${answer.error && html`<${Failed} error=${answer.error} again=${answer.again} table="review">
      ${answer.error.status === 404 && html`<p><a href=${addressOf("review", { orgId }, { days: scope.days })}>Show all products</a></p>`}
    <//>`}
    ${organization?.ciMetricsEnabled && !isThere && !answer.error && html`<${Waiting} />`}
    ${isThere && (asked.search || answer.data.total > WORTH_A_SEARCH) && html`<${Tools} name="review" label="causes"
      ...${{ asked, total: null, busy: answer.loading }} />`}
    ${isThere && html`<${Inbox} key=${answer.of} ...${{ address, orgId, me, path, query, list, search: asked.search, setLeft }}
      found=${answer.data} products=${products} may=${isAdmin(organization)} />`}
  `;
}

function Lists({ list }) {
  return html`<fieldset class="choice">
    <legend class="unseen">Causes</legend>
    ${[TO_REVIEW, REVIEWED].map((one) => html`<label key=${one.title}>
      <input type="radio" name="list" checked=${one === list} onChange=${() => change({ list: one.name, cause: null })} />
      <span>${one.title}</span>
    </label>`)}
  </fieldset>`;
}
