// SPDX-License-Identifier: Apache-2.0
// The audit log: who did what to which thing, newest first. For owners and admins: the API refuses all
// others, and this page does not ask for them.

import { addressOf } from "../address.js";
import { html } from "../html.js";
import { useProducts } from "../parts/values/links.js";
import { Empty, Waiting } from "../parts/notices/notice.js";
import { isAdmin } from "../parts/frame/roles.js";
import { PagedTable } from "../parts/table/table.js";
import { ExactTimes, Time } from "../parts/values/values.js";
import { deedOf, thingOf } from "./audit_log/words.js";

/** The page. */
export function AuditLog({ address, orgId, organization }) {
  useProducts(orgId, organization?.ciMetricsEnabled === true); // while CI Metrics is off, the API refuses
  return html`
    <div class="page-head"><h1>Audit log</h1><${ExactTimes} /></div>
    <section class="part">${shown(address, orgId, organization)}</section>
  `;
}

function shown(address, orgId, organization) {
  if (!organization) return html`<${Waiting} />`;
  if (!isAdmin(organization)) {
    return html`<${Empty}>The audit log is for owners and admins, and in ${organization.name} you are a ${organization.role}.
      ${" "}An owner or admin can show it to you, or change your role.<//>`;
  }
  const columns = [
    { key: "at", title: "When", own: "down", words: true, fixed: true, cell: ({ at }) => html`<${Time} at=${at} />` },
    { key: "actor", title: "Who", cell: ({ actor }) => actor.name },
    { key: "action", title: "What", words: true, fixed: true, cell: (entry) => html`<span title=${entry.action}>${deedOf(entry)}</span>` },
    { key: "target", title: "Which", cell: (entry) => thingOf(entry, orgId) },
  ];
  return html`<${PagedTable} name="audit" label="Audit log" thing="entry" path=${`/api/orgs/${orgId}/audit-log`} query=${{}}
    address=${address} searched=${false} columns=${columns} rowKey=${({ id }) => id} empty=${nothing(orgId)} />`;
}

function nothing(orgId) {
  return html`Nothing is kept here yet. Each review of a failure will be, and each change of a member, a box or a CI key, with
    who did it. Failures are reviewed on the page of <a href=${addressOf("metrics", { orgId })}>metrics</a>, boxes added on
    that of <a href=${addressOf("boxes", { orgId })}>boxes</a>.`;
}
