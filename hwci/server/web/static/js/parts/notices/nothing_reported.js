// SPDX-License-Identifier: Apache-2.0
// What a page says of a period in which nothing was reported: whether that came before or after it, and the way there.

import { addressOf } from "../../address.js";
import { counted, dateOf, periodName } from "../../format.js";
import { html } from "../../html.js";
import { DAYS_DEFAULT } from "../frame/scope.js";

const DAY_MILLISECONDS = 86_400_000;

/** The sentences. `period`: the empty one; `scope`: of the page, `products`: the known ones, the last to report first. */
export function NothingReported({ address, period, scope, products }) {
  const last = products.find((one) => one.lastReportAt && isOf(one, scope))?.lastReportAt;
  if (!last) return null;
  const days = address.query.get("days") ?? DAYS_DEFAULT;
  const isRecent = Date.now() - Date.parse(last) < days * DAY_MILLISECONDS;
  const query = { ...Object.fromEntries(address.query), from: null, asOf: isRecent ? null : last };
  const when = Date.parse(last) > Date.parse(period.to) ? "Reports came after it" : "It is after the last report";
  const href = addressOf(address.page, address.params, query);
  return html`<p class="empty">Nothing was reported from ${periodName(period)}. ${when}: the last on ${dateOf(last)}.
    ${" "}<a href=${href}>Show ${counted(Number(days), "day")} up to ${isRecent ? "now" : "it"}</a></p>`;
}

function isOf(product, { repoKey, suite }) {
  return (!repoKey || product.repoKey === repoKey) && (!suite || product.suite === suite);
}
