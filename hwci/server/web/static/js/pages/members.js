// SPDX-License-Identifier: Apache-2.0
// The members of an organization, and who is invited to it (contract, "Organizations"). Owners and admins
// invite and withdraw, and see what webhooks are told; everyone can leave.

import { go } from "../address.js";
import { remove } from "../api.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { Deed } from "../parts/form/deed.js";
import { Waiting } from "../parts/notices/notice.js";
import { isAdmin } from "../parts/frame/roles.js";
import { PagedTable } from "../parts/table/table.js";
import { ExactTimes, LongName, Time } from "../parts/values/values.js";
import { Invite, InviteLink } from "./members/inviting.js";
import { Webhooks } from "./members/webhooks.js";

/** The page. `put(me)`: the person has left. */
export function Members({ address, orgId, organization, me, put }) {
  const base = `/api/orgs/${orgId}`;
  const [turn, setTurn] = useState(0);
  const [made, setMade] = useState(null);
  const field = useRef(null);
  const changed = (invited) => {
    setMade(invited);
    setTurn((was) => was + 1);
  };
  const done = () => {
    setMade(null);
    field.current.focus(); // the button that was pressed is gone
  };
  const leave = async () => {
    await remove(`${base}/members/${me.user.id}`);
    put({ ...me, organizations: me.organizations.filter(({ id }) => id !== orgId) });
    go("/", { replace: true });
  };
  if (!organization) return html`<${Waiting} />`;
  const may = isAdmin(organization);
  const invited = [...OF_INVITED, { key: "withdraw", title: "Withdraw", cell: (one) => withdrawing(one, base, changed) }];
  const table = { address, query: {}, searched: false, rowKey: keyOf };
  return html`
    <div class="page-head"><h1>Members</h1><${ExactTimes} /></div>
    ${may && html`<${Invite} base=${base} role=${organization.role} ...${{ field, me }} made=${changed} />`}
    ${made && html`<${InviteLink} key=${made.inviteToken} made=${made} done=${done} />`}
    <section class="part">
      <${PagedTable} ...${table} name="members" label="Members" thing="member" path=${`${base}/members`} columns=${OF_MEMBERS}
        empty="There is no member." />
    </section>
    ${may && html`<section class="part"><h2 tabindex="-1">Open invitations</h2>
      <${PagedTable} ...${table} name="invited" label="Open invitations" thing="invitation" path=${`${base}/invites`} turn=${turn}
        columns=${invited} empty="There are no open invitations. An invited person becomes a member by accepting." />
    </section>`}
    ${may && html`<${Webhooks} base=${base} />`}
    <${Leaving} name=${organization.name} leave=${leave} />
  `;
}

const keyOf = ({ id, user }) => id ?? user.id;
const time = (at) => html`<${Time} at=${at} />`;
const OF_MEMBERS = [
  { key: "email", title: "E-mail", name: true, cell: ({ user }) => html`<${LongName} name=${user.email} />` },
  { key: "name", fields: ["user.name"], title: "Name", name: true, cell: ({ user }) => html`<${LongName} name=${user.name} />` },
  { key: "role", title: "Role", words: true, cell: ({ role }) => role },
  { key: "joinedAt", title: "Joined", own: "down", words: true, cell: ({ joinedAt }) => time(joinedAt) },
];
const OF_INVITED = [
  { key: "email", title: "E-mail", name: true, cell: ({ email }) => html`<${LongName} name=${email} />` },
  { key: "role", title: "Role", words: true, cell: ({ role }) => role },
  { key: "invitedBy", title: "Invited by", name: true, cell: ({ invitedBy }) => html`<${LongName} name=${invitedBy.email} />` },
  { key: "expiresAt", title: "Ends", words: true, cell: ({ expiresAt }) => time(expiresAt) },
];

function withdrawing({ id, email }, base, changed) {
  const act = async () => {
    await remove(`${base}/invites/${id}`);
    changed(null);
  };
  return html`<div class="actions"><${Deed} label=${`Withdraw the invitation of ${email}`} act=${act}>Withdraw<//></div>`;
}

/** Leaving takes a second click, as only a new invitation leads back. */
function Leaving({ name, leave }) {
  const [asked, setAsked] = useState(false);
  const stay = useRef(null);
  useEffect(() => asked && stay.current.focus(), [asked]);
  if (!asked) {
    return html`<section class="part" aria-label="Leave">
      <button type="button" onClick=${() => setAsked(true)}>Leave this organization…</button>
    </section>`;
  }
  return html`<section class="part" aria-label="Leave">
    <p>You lose access to <strong>${name}</strong> at once. Only a new invitation brings you back.</p>
    <div class="actions">
      <button type="button" ref=${stay} onClick=${() => setAsked(false)}>Stay</button>
      <${Deed} act=${leave}>Leave<//>
    </div>
  </section>`;
}
