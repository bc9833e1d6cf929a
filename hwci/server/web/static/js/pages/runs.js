// SPDX-License-Identifier: Apache-2.0
// The runs of an organization, latest start first, live (contract, "Runs and streams"). An event of the stream changes
// the rows in place; where it does not say all, they are asked for again (`parts/events/run_events.js`).

import { addressOf, change } from "../address.js";
import { html, useRef, useState } from "../html.js";
import { Live, useFollowing } from "../parts/events/live.js";
import { Empty } from "../parts/notices/notice.js";
import { usePaced } from "../parts/events/pace.js";
import { putAfter, runsAfter } from "../parts/events/run_events.js";
import { PagedTable } from "../parts/table/table.js";
import { TurnOn } from "../parts/notices/turn_on.js";
import { ExactTimes } from "../parts/values/values.js";
import { runColumns } from "./runs/columns.js";
import { Filters, NO_FILTERS, filtersOf, isFiltered, isHashStart } from "./runs/filters.js";

/** The page. */
export function Runs({ address, orgId, organization }) {
  const base = `/api/orgs/${orgId}/runs`;
  const filters = filtersOf(address.query);
  const [turn, setTurn] = useState(0);
  const held = useRef(null);
  const ask = usePaced(() => setTurn((was) => was + 1), () => held.current?.loading);
  const event = (one) => putAfter(held, ask, (list) => runsAfter(list, one, isFiltered(filters)));
  const following = useFollowing(`${base}/stream`, { begun: ask, event });
  const first = useRef(null);
  const clear = (some = NO_FILTERS) => {
    change(some);
    first.current.focus(); // the button that was pressed is gone
  };
  return html`
    <div class="page-head"><h1>Runs</h1><${Live} following=${following} /><${ExactTimes} /></div>
    ${isOff(organization) && html`<${TurnOn} orgId=${orgId} />`}
    <section class="part moving runs">
      <${Filters} orgId=${orgId} organization=${organization} filters=${filters} first=${first} clear=${clear} />
      ${isHashStart(filters.sha)
        ? html`<${PagedTable} foldsOnPhone name="runs" label="Runs" thing="run" path=${base} query=${filters} turn=${turn}
            held=${held} address=${address} searched=${false} totalled=${isFiltered(filters)}
            columns=${columns(orgId, filters)} rowKey=${(run) => run.id}
            unknown=${html`<button type="button" onClick=${() => clear()}>Show all runs</button>`}
            empty=${nothing(orgId, filters, clear, organization)} />`
        : html`<${Empty}>“${filters.sha}” is not the start of a commit hash. At least 4 characters,
            0 to 9 and a to f.<//>`}
    </section>
  `;
}

/** The test's results replace the column of the product, which the filters name. */
function columns(orgId, filters) {
  const found = runColumns(orgId, Boolean(filters.testId));
  return filters.testId && filters.repoKey && filters.suite ? found.filter(({ key }) => key !== "product") : found;
}

function isOff(organization) {
  return organization?.ciMetricsEnabled === false;
}

function nothing(orgId, filters, clear, organization) {
  if (isOff(organization)) return "While CI Metrics is off, no run can be reported.";
  if (!isFiltered(filters)) {
    return html`No run was reported yet. <a href=${addressOf("metrics", { orgId })}>How to begin</a>`;
  }
  return html`No run fits these filters. <button type="button" onClick=${() => clear()}>Show all runs</button>`;
}
