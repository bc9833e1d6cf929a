// SPDX-License-Identifier: Apache-2.0
// Below "Failing now": the ways to what needs a person beside it, each a few words. No tile counts what is pending.

import { addressOf } from "../../address.js";
import { counted } from "../../format.js";
import { html } from "../../html.js";
import { periodHere } from "../../parts/frame/scope.js";

/** The ways. `figures`: of the page; nothing as long as they are not there. */
export function WaysOn({ figures: { data }, orgId, scope }) {
  return data && html`<div class="ways-on">
    <p><span class="quiet">Is one box worse? </span><a href=${addressOf("boxes", { orgId }, periodHere())}>Compare them</a></p>
    <${Pending} total=${data.pendingFailures} href=${addressOf("failures", { orgId }, { ...scope, label: "pending" })} />
  </div>`;
}

/** The failures of the rows above; null: the server did not get to them. */
function Pending({ total, href }) {
  if (total === null) return null;
  if (total === 0) return html`<p class="pending quiet">No failure is still pending</p>`;
  const failures = counted(total, "pending failure");
  return html`<p class="pending"><span class="quiet">${failures}: </span>
    <a href=${href} aria-label=${`Show each: ${failures}`}>Show each</a></p>`;
}
