// SPDX-License-Identifier: Apache-2.0
// The webhooks of an organization, for owners and admins (contract, "Webhooks"): what each was sent, why an attempt
// failed, and a way to send it again. They are made in the command line, which shows the secret once.

import { post } from "../../api.js";
import { useAnswer } from "../../asking.js";
import { counted } from "../../format.js";
import { html, useState } from "../../html.js";
import { Deed } from "../../parts/form/deed.js";
import { Section } from "../../parts/section.js";
import { PlainTable } from "../../parts/table/table.js";
import { LongName, Time } from "../../parts/values/values.js";

const LIMIT = 20;
const EVENTS = {
  "failure.real_bug": "real bug",
  "incident.opened": "incident",
  "incident.resolved": "end of an incident",
  "merge.unchecked": "unchecked merge",
  "box.silent": "silent box",
  "box.worse": "worse box",
};
const STATUS = { waiting: "waiting", delivered: "delivered", given_up: "given up" };

/** The list, and below it the deliveries of the webhook that was chosen. `base`: of the organization. */
export function Webhooks({ base }) {
  const { data } = useAnswer(`${base}/webhooks`, { limit: LIMIT });
  const [chosen, choose] = useState(null);
  if (!data) return null;
  if (data.total === 0) {
    return html`<${Section} title="Webhooks"><p class="quiet">None yet. One is told of real bugs, incidents,
      ${" "}unchecked merges, and boxes that are silent or worse: <code>hwci webhooks create ADDRESS</code></p><//>`;
  }
  const deliveries = {
    key: "deliveries",
    title: "Deliveries",
    cell: (one) => html`<button type="button" aria-pressed=${one.id === chosen?.id ? "true" : "false"}
      aria-label=${`Show the deliveries of ${one.host}`} onClick=${() => choose(one.id === chosen?.id ? null : one)}>Show</button>`,
  };
  return html`<${Section} title="Webhooks" total=${data.total}>
    <${PlainTable} name="webhooks" label="Webhooks" rows=${data.items} rowKey=${({ id }) => id} columns=${[...OF_WEBHOOKS, deliveries]} />
    ${chosen && html`<${Deliveries} key=${chosen.id} path=${`${base}/webhooks/${chosen.id}/deliveries`} host=${chosen.host} />`}
  <//>`;
}

const OF_WEBHOOKS = [
  { key: "host", title: "Host", name: true, cell: ({ host }) => html`<${LongName} name=${host} />` },
  { key: "form", title: "Form", words: true, cell: ({ form }) => form },
  { key: "events", title: "Events", words: true, cell: ({ events }) => events.map((one) => EVENTS[one] ?? one).join(", ") },
  { key: "enabled", title: "State", words: true, cell: ({ enabled }) => (enabled ? "on" : "off") },
  { key: "createdAt", title: "Made", own: "down", words: true, cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
];

function Deliveries({ path, host }) {
  const [turn, setTurn] = useState(0);
  const { data } = useAnswer(path, { limit: LIMIT }, turn);
  if (!data) return null;
  if (data.total === 0) return html`<p class="quiet">${host} was sent nothing yet.</p>`;
  const again = async ({ id }) => {
    await post(`${path}/${id}/resend`);
    setTurn((was) => was + 1);
  };
  const resend = {
    key: "resend",
    title: "Resend",
    cell: (one) => html`<${Deed} label=${`Send again: ${one.data.text}`} act=${() => again(one)}>Resend<//>`,
  };
  const earlier = data.total - data.items.length;
  return html`<h3>Sent to ${host}</h3>
    <${PlainTable} name="deliveries" label="Deliveries" rows=${data.items} rowKey=${({ id }) => id} columns=${[...OF_DELIVERIES, resend]} />
    ${earlier > 0 && html`<p class="quiet">${counted(earlier, "earlier delivery", "earlier deliveries")}</p>`}`;
}

const OF_DELIVERIES = [
  { key: "at", title: "When", own: "down", words: true, cell: ({ at }) => html`<${Time} at=${at} />` },
  { key: "text", fields: ["data"], title: "What", words: true, fixed: true, cell: ({ data }) => data.text },
  { key: "status", title: "Status", words: true, cell: ({ status, attempts }) =>
    html`${STATUS[status] ?? status} <span class="under">${counted(attempts, "attempt")}</span>` },
  { key: "error", title: "Last error", words: true, cell: ({ error }) => error },
];
