// SPDX-License-Identifier: Apache-2.0
// One box over time: how it compares, its shares beside those of all other boxes, what failed on it alone, its notes and
// its runs (contract, "Answers beside the rules"). The API decides every figure and sentence.

import { addressOf } from "../address.js";
import { useAnswer } from "../asking.js";
import { html, useState } from "../html.js";
import { Period } from "../parts/values/period.js";
import { GivenTime } from "../parts/values/given_time.js";
import { useProducts } from "../parts/values/links.js";
import { NotThere } from "../parts/notices/missing.js";
import { NoReport } from "../parts/notices/no_report.js";
import { Empty, Failed, Renewing, Waiting } from "../parts/notices/notice.js";
import { Back } from "../parts/frame/back.js";
import { isAdmin } from "../parts/frame/roles.js";
import { LookBack, Periods, Products, UpToNow, periodHere, scopeOf, severalRepositories } from "../parts/frame/scope.js";
import { Section } from "../parts/section.js";
import { PagedTable } from "../parts/table/table.js";
import { useTitle } from "../parts/frame/title.js";
import { TurnOn } from "../parts/notices/turn_on.js";
import { ExactTimes, LongName } from "../parts/values/values.js";
import { Alone, Shares } from "./box/figures.js";
import { BoxNotes } from "./boxes/notes.js";
import { runColumns } from "./runs/columns.js";

/** The page. */
export function Box({ address, orgId, organization }) {
  const boxKey = address.query.get("boxKey");
  if (boxKey) return html`<${OfBox} key=${boxKey} ...${{ address, orgId, organization, boxKey }} />`;
  return html`<${NotThere} title="No box is named" sought=${address.path} organizations=${organization ? [organization] : []}>
    the address of a box has its boxKey. The page “Boxes” lists them.
  <//>`;
}

function OfBox({ address, orgId, organization, boxKey }) {
  const scope = scopeOf(address.query);
  const products = useProducts(orgId, organization?.ciMetricsEnabled).data;
  useTitle(boxKey);
  const isOff = organization?.ciMetricsEnabled === false;
  return html`
    <div class="failure-top"><${Back} orgId=${orgId} /><${ExactTimes} /></div>
    <div class="page-head">
      <h1><${LongName} name=${boxKey} /></h1>
      ${scope.asOf && html`<p class="quiet">up to <${GivenTime} at=${scope.asOf} /></p>`}
      <${UpToNow} address=${address} scope=${scope} />
      <${Products} products=${products} scope=${scope} several=${severalRepositories(products)} />
      <${Periods} days=${scope.days} />
    </div>
    ${isOff ? html`<${TurnOn} orgId=${orgId} />` : html`<${Past} ...${{ address, orgId, organization, boxKey, scope, products }} />`}
  `;
}

function Past({ address, orgId, organization, boxKey, scope, products }) {
  const { data, error, again, loading } = useAnswer(`/api/orgs/${orgId}/ci-analysis/box`, { ...scope, boxKey });
  if (error && !data) {
    return html`<${Failed} error=${error} again=${again}><p><a href=${addressOf("boxes", { orgId })}>All boxes</a></p><//>`;
  }
  if (!data) return html`<${Waiting} />`;
  return html`
    ${error && html`<${Failed} error=${error} again=${again} />`}
    <${Figures} ...${{ address, found: data, orgId, scope, products, loading }} />
    <${Notes} ...${{ orgId, organization, boxKey }} />
    <${Runs} ...${{ address, orgId, boxKey, scope }} />
  `;
}

function Figures({ address, found, orgId, scope, products, loading }) {
  if (!found.box && products?.length === 0) return html`<${Empty}><${NoReport} orgId=${orgId} /><//>`;
  if (!found.box) return html`<${Empty}>No run${ofProduct(scope)} in this period (<${Period} ...${found.period} />) was on this box.
    <${LookBack} address=${address} days=${found.period.days} />${scope.repoKey && ", choose another product"}, or see${" "}
    <a href=${addressOf("boxes", { orgId }, periodHere())}>all boxes</a>. <${Renewing} on=${loading} /><//>`;
  return html`
    <${Section} title="Against the other boxes"><${Shares} ...${{ found, orgId, loading }} /><//>
    <${Section} title="Failed here alone" total=${found.aloneTotal}>
      <${Alone} found=${found} orgId=${orgId} />
    <//>
  `;
}

function Notes({ orgId, organization, boxKey }) {
  const [turn, setTurn] = useState(0);
  const removed = () => setTurn((was) => was + 1);
  if (!organization) return null;
  const path = `/api/orgs/${orgId}/box-notes`;
  return html`<${BoxNotes} path=${path} orgId=${orgId} boxKey=${boxKey} may=${isAdmin(organization)} turn=${turn} removed=${removed} />`;
}

function ofProduct({ repoKey, suite }) {
  return repoKey ? ` of ${suite ?? repoKey}` : "";
}

/** The runs of the box, of all time: those that run now, too. */
function Runs({ address, orgId, boxKey, scope }) {
  const { repoKey, suite } = scope;
  const columns = runColumns(orgId).filter(({ key }) => key !== "box");
  return html`<${Section} title="Runs">
    <p class="quiet">Of all time, not of the period alone.</p>
    <${PagedTable} folds name="runs" label="Runs of the box" thing="run" path=${`/api/orgs/${orgId}/runs`} address=${address}
      query=${{ boxKey, repoKey, suite }} searched=${false} columns=${columns} rowKey=${({ id }) => id}
      empty=${`No run${ofProduct(scope)} was reported on this box.`} />
  <//>`;
}
