// SPDX-License-Identifier: Apache-2.0
// One commit: whether it was checked, on which boxes, what failed on it and why, what it broke or fixed, and what would
// check it (contract, "Answers beside the rules"; semantics, 15). The API decides every sentence.

import { useAnswer } from "../asking.js";
import { short } from "../format.js";
import { html } from "../html.js";
import { Back } from "../parts/frame/back.js";
import { LookBack, Periods, UpToNow, scopeOf } from "../parts/frame/scope.js";
import { useTitle } from "../parts/frame/title.js";
import { NotThere } from "../parts/notices/missing.js";
import { Empty, Failed, Waiting } from "../parts/notices/notice.js";
import { TurnOn } from "../parts/notices/turn_on.js";
import { Section } from "../parts/section.js";
import { CommitLink, useProducts } from "../parts/values/links.js";
import { Badge, Copied, ExactTimes, Subject } from "../parts/values/values.js";
import { NOT_CHECKED } from "../words.js";
import { Effects } from "./commit/effects.js";
import { Failures, Passes } from "./commit/failures.js";
import { Merges } from "./commit/merges.js";
import { Runs } from "./commit/runs.js";

/** The page. */
export function CommitPage({ address, orgId, organization }) {
  const [repoKey, sha] = ["repoKey", "sha"].map((name) => address.query.get(name));
  if (repoKey && sha) return html`<${OfCommit} key=${`${repoKey} ${sha}`} ...${{ address, orgId, organization, repoKey, sha }} />`;
  return html`<${NotThere} title="No commit is named" sought=${address.path} organizations=${organization ? [organization] : []}>
    the address of a commit has its repoKey and sha. The list of runs leads to each.
  <//>`;
}

function OfCommit({ address, orgId, organization, repoKey, sha }) {
  const scope = { ...scopeOf(address.query), repoKey };
  useProducts(orgId, organization?.ciMetricsEnabled);
  useTitle(short(sha));
  const isOff = organization?.ciMetricsEnabled === false;
  return html`
    <div class="failure-top"><${Back} orgId=${orgId} /><${ExactTimes} /></div>
    <div class="page-head">
      <h1><${Copied} text=${sha} shown=${short(sha)} /><${CommitLink} repo=${repoKey} sha=${sha} /></h1>
      <p class="quiet">${repoKey}</p>
      <${UpToNow} address=${address} scope=${scope} />
      <${Periods} days=${scope.days} />
    </div>
    ${isOff ? html`<${TurnOn} orgId=${orgId} />` : html`<${Told} ...${{ address, orgId, scope, sha }} />`}
  `;
}

function Told({ address, orgId, scope, sha }) {
  const { data, error, again } = useAnswer(`/api/orgs/${orgId}/ci-analysis/commit`, { ...scope, sha });
  const isUnknown = error?.status === 404;
  return html`
    ${error && !isUnknown && html`<${Failed} error=${error} again=${again} />`}
    ${!data && !error && html`<${Waiting} />`}
    ${!data && isUnknown && html`<${Empty}>${error.message}. <${LookBack} address=${address} days=${Number(scope.days)} /><//>`}
    ${data && html`<${Head} commit=${data} />`}
    <${Merges} ...${{ orgId, scope, sha: data?.sha ?? sha }} />
    ${data && html`<${Failures} ...${{ commit: data, orgId }} /><${Passes} commit=${data} orgId=${orgId} />`}
    <${Effects} ...${{ orgId, scope, sha: data?.sha ?? sha }} />
    ${data && html`<${Section} title="Runs" total=${data.runs.length}><${Runs} commit=${data} orgId=${orgId} /><//>`}
  `;
}

function Head({ commit: { subject, checked, runs, baseBranch, repoKey } }) {
  const boxes = [...new Set(runs.filter(({ tests }) => tests > 0).map(({ boxKey }) => boxKey))];
  return html`<p class="verdict-line">
    ${checked ? html`<${Badge} kind="good">ran on hardware<//>` : html`<${Badge} kind="warn">not checked<//>`}
    ${" "}<span>${subject !== null && html`<${Subject} text=${subject} repo=${repoKey} /> · `}${checked
      ? `on ${boxes.join(", ")}`
      : NOT_CHECKED}${baseBranch && `, compared with ${baseBranch}`}</span></p>`;
}
