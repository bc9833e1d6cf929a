// SPDX-License-Identifier: Apache-2.0
// One box over time: how it compares, its shares beside those of all other boxes, what failed on it alone, its notes and
// its runs (contract, "Answers beside the rules"). The API decides every figure and sentence.

import { addressOf, change } from "../address.js";
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
import { useOwnDays } from "../parts/zone.js";
import { ExactTimes, LongName } from "../parts/values/values.js";
import { Cockpit, DaysOfBox } from "./box/cockpit.js";
import { Against, Alone, Boards, Shares } from "./box/figures.js";
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
  const [noted, setNoted] = useState(0);
  const { data, error, again, loading } = useOwnDays(`/api/orgs/${orgId}/ci-analysis/box`, { ...scope, boxKey }, noted);
  if (error && !data) {
    return html`<${Failed} error=${error} again=${again}><p><a href=${addressOf("boxes", { orgId })}>All boxes</a></p><//>`;
  }
  if (!data) return html`<${Waiting} />`;
  return html`
    ${error && html`<${Failed} error=${error} again=${again} />`}
    <${Figures} ...${{ address, found: data, orgId, scope, products, loading }}>
      ${organization && html`<${BoxNotes} path=${`/api/orgs/${orgId}/box-notes`} may=${isAdmin(organization)} ...${{ orgId, boxKey }}
        turn=${noted} changed=${() => setNoted((was) => was + 1)} />`}
    <//>
    <${Runs} ...${{ address, orgId, boxKey, scope }} />
  `;
}

/** Its figures; below its days its notes, which are the children. */
function Figures({ address, found, orgId, scope, products, loading, children }) {
  if (!found.box && products?.length === 0) return html`<${Empty}><${NoReport} orgId=${orgId} /><//>${children}`;
  if (!found.box) return html`<${Empty}>No run${ofProduct(scope)} in this period (<${Period} ...${found.period} />) was on this box.
    <${LookBack} address=${address} days=${found.period.days} />${scope.repoKey && ", choose another product"}, or see${" "}
    <a href=${addressOf("boxes", { orgId }, periodHere())}>all boxes</a>. <${Renewing} on=${loading} /><//>${children}`;
  const toNotes = `${addressOf(address.page, address.params, Object.fromEntries(address.query))}#notes`;
  const days = address.query.get("by-day") === "open";
  return html`
    <${Section} title="Against the other boxes"><${Against} ...${{ found, orgId, loading }} /><//>
    <${Section} title="Day by day">
      <${Cockpit} ...${{ found, orgId, scope, toNotes }} />
      <button type="button" class="fold" aria-expanded=${days ? "true" : "false"}
        onClick=${() => change({ "by-day": days ? null : "open" }, { replace: true })}>Figures of each day</button>
      ${days && html`<${DaysOfBox} found=${found} />`}
    <//>
    ${children}
    ${found.boards.length > 0 && html`<${Section} title="Its boards against each other" total=${found.boards.length}>
      <${Boards} boards=${found.boards} />
    <//>`}
    <${Section} title="All runs, whatever they tested"><${Shares} found=${found} /><//>
    <${Section} title="Failed here alone" total=${found.aloneTotal}>
      <${Alone} found=${found} orgId=${orgId} />
    <//>
  `;
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
