// SPDX-License-Identifier: Apache-2.0
// The boxes of an organization (contract, "Boxes"): which are there, and how one comes to be there. An
// install token is shown once, where it was asked for, and kept nowhere.

import { addressOf } from "../address.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { Waiting } from "../parts/notice.js";
import { isAdmin } from "../parts/roles.js";
import { PagedTable } from "../parts/table.js";
import { Badge, ExactTimes, LongName, Time } from "../parts/values.js";
import { AddBox, InstallToken, useInstallTokens } from "./boxes/adding.js";

// No event says whether a box is online, so the page asks while somebody looks.
const LOOK_MILLISECONDS = 30_000;
const STATUSES = {
  online: ["good", "online", "Last heard from within three minutes"],
  offline: ["warn", "offline", "Not heard from for three minutes"],
  new: ["quiet", "not installed", "It has no key yet: install it with its token"],
};

/** The page. */
export function Boxes({ address, orgId, organization }) {
  const base = `/api/orgs/${orgId}/boxes`;
  const [turn, ask] = useLooks();
  const tokens = useInstallTokens(base, ask);
  const may = isAdmin(organization); // which adds a form and a column: the list is shown with it, and asked for before
  const field = useRef(null);
  const done = () => {
    tokens.forget();
    field.current.focus(); // the button that was pressed is gone
  };
  return html`
    <div class="page-head"><h1>Boxes</h1><${ExactTimes} /></div>
    ${may && html`<${AddBox} tokens=${tokens} field=${field} />`}
    ${tokens.made && html`<${InstallToken} key=${tokens.made.installToken} made=${tokens.made} done=${done} />`}
    ${!organization && html`<${Waiting} />`}
    <section class="part moving" hidden=${!organization}>
      <${PagedTable} name="boxes" label="Boxes" thing="box" path=${base} query=${{}} turn=${turn} address=${address}
        searched=${false} columns=${columns(orgId, may, tokens)} rowKey=${({ id }) => id} empty=${nothing(orgId, may)} />
    </section>
  `;
}

function columns(orgId, may, tokens) {
  const shown = [
    { key: "name", title: "Box", name: true, cell: ({ name }) => runsOn(name, orgId) },
    { key: "status", title: "Status", words: true, cell: status },
    { key: "seen", title: "Last seen", words: true, cell: ({ lastSeenAt }) => timeOr(lastSeenAt, "never") },
    { key: "report", title: "Last report", words: true, cell: ({ lastReportAt }) => timeOr(lastReportAt, "none") },
    { key: "key", title: "Key", words: true, cell: keyOf },
    { key: "created", title: "Added", own: "down", words: true, cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
  ];
  const actions = { key: "actions", title: "Install", cell: (box) => html`<${NewToken} box=${box} tokens=${tokens} />` };
  return may ? [...shown, actions] : shown;
}

function runsOn(name, orgId) {
  const address = addressOf("runs", { orgId }, { boxKey: name });
  return html`<a href=${address} title=${`Runs on ${name}`}><${LongName} name=${name} /></a>`;
}

function keyOf(box) {
  return box.status === "new" ? html`<span class="quiet">none yet</span>` : "installed";
}

function status(box) {
  const [kind, text, title] = STATUSES[box.status];
  return html`<${Badge} kind=${kind} title=${title}>${text}<//>`;
}

function timeOr(at, otherwise) {
  return at ? html`<${Time} at=${at} />` : html`<span class="quiet">${otherwise}</span>`;
}

function NewToken({ box, tokens }) {
  const [fault, setFault] = useState(null);
  const [busy, setBusy] = useState(false);
  const make = async () => {
    if (busy) return;
    setBusy(true);
    setFault(await tokens.renew(box.id));
    setBusy(false);
  };
  return html`<div class="actions">
    <button type="button" aria-disabled=${busy ? "true" : undefined} onClick=${make}
      aria-label=${`New install token for ${box.name}`}>New install token</button>
    ${fault && html`<p class="fault" role="alert">${fault.message}</p>`}
  </div>`;
}

function nothing(orgId, may) {
  const cli = html`<code>hwci boxes create bench-1 --org ${orgId}</code>`;
  if (!may) {
    return html`There is no box yet. An owner or admin adds one, here or with ${cli}. Runs of benches without a box are
      listed all the same.`;
  }
  return html`There is no box yet. Give one the name that its run reports say, above or with ${cli}; then it is
    seen here whether it is online, and its runs go live. Runs of benches without a box are listed all the same.`;
}

function useLooks() {
  const [turn, setTurn] = useState(0);
  const ask = () => setTurn((was) => was + 1);
  useEffect(() => {
    const timer = window.setInterval(() => !document.hidden && ask(), LOOK_MILLISECONDS);
    return () => window.clearInterval(timer);
  }, []);
  return [turn, ask];
}
