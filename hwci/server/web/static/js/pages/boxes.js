// SPDX-License-Identifier: Apache-2.0
// The boxes of an organization (contract, "Boxes"): how they fare, their list, a form that adds one, what owners and
// admins do with each, and what was done to them. An install token is shown only once, on this page, and stored nowhere.

import { html, useEffect, useRef, useState } from "../html.js";
import { Deed } from "../parts/form/deed.js";
import { useDraft } from "../parts/form/draft.js";
import { Waiting } from "../parts/notices/notice.js";
import { isAdmin } from "../parts/frame/roles.js";
import { branchesOf } from "../parts/frame/branches.js";
import { Periods, UpToNow, scopeOf } from "../parts/frame/scope.js";
import { BoxLink } from "../parts/values/past.js";
import { PagedTable } from "../parts/table/table.js";
import { Badge, ExactTimes, Time } from "../parts/values/values.js";
import { AddBox, InstallToken, useInstallTokens } from "./boxes/adding.js";
import { BoxHealth, useHealth } from "./boxes/health.js";
import { useManaging } from "./boxes/managing.js";
import { BoxNotes } from "./boxes/notes.js";

// There is no event for a box that goes offline, so a visible page asks again.
const LOOK_MILLISECONDS = 30_000;
const STATUSES = {
  online: ["good", "online", "A heartbeat within three minutes"],
  offline: ["warn", "offline", "Not seen for three minutes"],
  new: ["quiet", "not installed", "It has no key yet: install it with its token"],
  reported: ["quiet", "only reported", "Reports name it; nobody added it here"],
};

/** The page. */
export function Boxes({ address, orgId, organization, me }) {
  const base = `/api/orgs/${orgId}/boxes`;
  const { turn, ask } = useLooks();
  const tokens = useInstallTokens(base, ask);
  const [noted, setNoted] = useState(0);
  const { days, from, asOf } = scopeOf(address.query);
  const health = useHealth(orgId, organization, { days, from, asOf, branch: branchesOf(address.query) }, noted);
  const notes = { path: `/api/orgs/${orgId}/box-notes`, noted: () => setNoted((was) => was + 1) };
  const changed = (removed) => {
    if (removed && removed.id === tokens.made?.id) tokens.forget();
    ask();
  };
  const draft = useDraft(me);
  const managing = useManaging(base, changed, notes, draft);
  const may = isAdmin(organization); // which adds a form and a column
  const { isThere } = health; // the list is asked for at once, and shown with what stands above it
  const field = useRef(null);
  const done = () => {
    tokens.forget();
    field.current.focus(); // the button that was pressed is gone
  };
  return html`
    <div class="page-head"><h1>Boxes</h1><${UpToNow} address=${address} scope=${{ asOf }} /><${ExactTimes} />
      <${Periods} days=${days} /></div>
    ${isThere && html`<${BoxHealth} ...${{ health, address, orgId }} />`}
    ${isThere && may && html`<${AddBox} ...${{ tokens, field, draft }} />`}
    ${tokens.made && html`<${InstallToken} key=${tokens.made.installToken} made=${tokens.made} done=${done} />`}
    ${!isThere && html`<${Waiting} />`}
    <section class="part moving" hidden=${!isThere}>
      <${PagedTable} name="boxes" label="Boxes" thing="box" path=${base} query=${{ reported: true }} turn=${turn} address=${address}
        searched=${false} columns=${columns(orgId, may, tokens, managing)} below=${managing.below}
        rowKey=${({ id, name }) => id ?? name} empty=${nothing(orgId, may)} />
    </section>
    ${isThere && html`<${BoxNotes} path=${notes.path} orgId=${orgId} may=${may} turn=${noted} changed=${notes.noted} />`}
    <p class="toast" role="status">${managing.message}</p>
  `;
}

function columns(orgId, may, tokens, managing) {
  const shown = [
    { key: "name", title: "Box", name: true, cell: ({ name }) => html`<${BoxLink} boxKey=${name} orgId=${orgId} />` },
    { key: "status", title: "Status", words: true, cell: status },
    { key: "lastSeenAt", title: "Last heartbeat", words: true, cell: ({ lastSeenAt }) => timeOr(lastSeenAt, "none") },
    { key: "lastReportAt", title: "Last report", words: true, cell: ({ lastReportAt }) => timeOr(lastReportAt, "none") },
    { key: "key", title: "Key", words: true, cell: keyOf },
    { key: "createdAt", title: "Added", own: "down", words: true, cell: ({ createdAt }) => timeOr(createdAt, "never") },
  ];
  const actions = { key: "actions", title: "Actions", cell: (box) => actionsOf(box, tokens, managing) };
  return may ? [...shown, actions] : shown;
}

function keyOf(box) {
  return box.status === "new" || !box.id ? html`<span class="quiet">none yet</span>` : "installed";
}

function status(box) {
  const [kind, text, title] = STATUSES[box.status];
  return html`<${Badge} kind=${kind} title=${title}>${text}<//>`;
}

function timeOr(at, otherwise) {
  return at ? html`<${Time} at=${at} />` : html`<span class="quiet">${otherwise}</span>`;
}

function actionsOf(box, tokens, managing) {
  return html`<div class="actions">
    ${box.id && html`<${Deed} label=${`New install token for ${box.name}`} act=${() => tokens.renew(box.id)}>New install
      token<//>`}
    ${managing.buttons(box)}
  </div>`;
}

function nothing(orgId, may) {
  const cli = html`<code>hwci boxes create bench-1 --org ${orgId}</code>`;
  if (!may) {
    return html`There is no box yet. An owner or admin adds one, here or with ${cli}. Runs of benches without a box are
      listed too.`;
  }
  return html`There is no box yet. Add one above or with ${cli}, under the name that its run reports use. This page
    then shows whether it is online, and its runs are live. Runs of benches without a box are listed too.`;
}

function useLooks() {
  const [turn, setTurn] = useState(0);
  const ask = () => setTurn((was) => was + 1);
  useEffect(() => {
    const timer = window.setInterval(() => !document.hidden && ask(), LOOK_MILLISECONDS);
    return () => window.clearInterval(timer);
  }, []);
  return { turn, ask };
}
