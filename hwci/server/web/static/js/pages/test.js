// SPDX-License-Identifier: Apache-2.0
// One test over time: what it did on each box, how often it failed, and its failures (contract, "Answers beside the
// rules"). The API decides every figure.

import { addressOf } from "../address.js";
import { productName } from "../format.js";
import { html } from "../html.js";
import { GivenTime } from "../parts/values/given_time.js";
import { Period } from "../parts/values/period.js";
import { useProducts } from "../parts/values/links.js";
import { NotThere } from "../parts/notices/missing.js";
import { NoReport } from "../parts/notices/no_report.js";
import { Empty, Failed, Renewing, Waiting } from "../parts/notices/notice.js";
import { Back } from "../parts/frame/back.js";
import { LookBack, Periods, UpToNow, scopeOf } from "../parts/frame/scope.js";
import { Section } from "../parts/section.js";
import { PagedTable } from "../parts/table/table.js";
import { useTitle } from "../parts/frame/title.js";
import { TurnOn } from "../parts/notices/turn_on.js";
import { ExactTimes, LongName } from "../parts/values/values.js";
import { useOwnDays } from "../parts/zone.js";
import { failureColumns } from "./failures/columns.js";
import { Bisection } from "./test/bisection.js";
import { Boxes, Given } from "./test/figures.js";
import { Strips } from "./test/strips.js";

const NEEDED = ["repoKey", "suite", "testId"];

/** The page. */
export function Test({ address, orgId, organization }) {
  const named = NEEDED.map((name) => address.query.get(name));
  if (named.every(Boolean)) return html`<${OfTest} key=${JSON.stringify(named)} ...${{ address, orgId, organization }} />`;
  return html`<${NotThere} title="No test is named" sought=${address.path} organizations=${organization ? [organization] : []}>
    the address of a test has its repoKey, suite and testId. “Flakiest tests” and “Failures” lead to tests.
  <//>`;
}

function OfTest({ address, orgId, organization }) {
  const scope = scopeOf(address.query);
  const query = { ...scope, testId: address.query.get("testId") };
  const { testId } = query;
  useTitle(testId);
  const products = useProducts(orgId, organization?.ciMetricsEnabled).data;
  const isOff = organization?.ciMetricsEnabled === false;
  return html`
    <div class="failure-top"><${Back} orgId=${orgId} /><${ExactTimes} /></div>
    <div class="page-head">
      <h1><${LongName} name=${testId} /></h1>
      <p class="quiet">${productName(scope)}${scope.asOf && html`, up to <${GivenTime} at=${scope.asOf} />`}</p>
      <${UpToNow} address=${address} scope=${scope} />
      <${Periods} days=${scope.days} />
    </div>
    ${isOff ? html`<${TurnOn} orgId=${orgId} />` : html`<${Past} ...${{ address, orgId, query, products }} />`}
  `;
}

function Past({ address, orgId, query, products }) {
  const { data: test, error, again, loading } = useOwnDays(`/api/orgs/${orgId}/ci-analysis/test`, query);
  if (error && !test) return html`<${Failed} error=${error} again=${again}><${Others} ...${{ orgId, products }} /><//>`;
  if (!test) return html`<${Waiting} />`;
  return html`
    ${error && html`<${Failed} error=${error} again=${again} />`}
    <p class="quiet"><${Period} ...${test.period} /> <${Renewing} on=${loading} /></p>
    ${test.all === null
      ? html`<${Empty}>No run of this period had the test. <${LookBack} address=${address} days=${test.period.days} /><//>`
      : html`<${Answer} ...${test} />
        ${test.beganBefore && html`<p><${LookBack} address=${address} days=${test.period.days} words="Since when? " /></p>`}
        <${Shown} ...${{ test, orgId, query }} />`}
    <${Failures} ...${{ address, orgId, query, days: test.period.days }} />
  `;
}

/** What the test is, large, and then what to do and what it rests on, a line for each sentence. */
function Answer({ answer, says }) {
  const [verdict, ...more] = `${answer} ${says}`.trim().split(/(?<=\.) (?=[A-Z])/);
  return html`<p class="answer">${verdict}</p>
    ${more.length > 0 && html`<ul>${more.map((one) => html`<li key=${one}>${one}</li>`)}</ul>`}`;
}

/** The way on where the test is not there. */
function Others({ orgId, products }) {
  if (products?.length === 0) return html`<p><${NoReport} orgId=${orgId} /></p>`;
  return html`<p><a href=${addressOf("failures", { orgId })}>All failures</a>
    ${" "}<a href=${`${addressOf("metrics", { orgId })}#flaky`}>Flakiest tests</a></p>`;
}

function Shown({ test, orgId, query }) {
  return html`
    <${Section} title="Over time"><${Strips} test=${test} orgId=${orgId} /><//>
    <${Section} title="By box" total=${test.boxesTotal}>
      <${Boxes} test=${test} orgId=${orgId} />
      <${Given} test=${test} />
    <//>
    ${test.all.first.part > 0 && html`<${Bisection} orgId=${orgId} query=${query} />`}
  `;
}

/** The failures of the test, each with a link to why. */
function Failures({ address, orgId, query, days }) {
  const nothing = html`No run of this test failed in this period; a pass on a retry is not a failure.
    ${" "}<${LookBack} address=${address} days=${days} />`;
  return html`<${Section} title="Failures">
    <p class="quiet">One row for each commit and box: all runs that failed there are one failure.</p>
    <${PagedTable} folds name="failures" label="Failures of the test" thing="failure" path=${`/api/orgs/${orgId}/ci-failures`}
      query=${query} address=${address} searched=${false} totalled columns=${failureColumns(orgId, query, false)} rowKey=${({ id }) => id}
      empty=${nothing} />
  <//>`;
}
