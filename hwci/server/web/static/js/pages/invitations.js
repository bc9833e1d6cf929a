// SPDX-License-Identifier: Apache-2.0
// The open invitations of the signed-in person, to be accepted or declined (contract, "Organizations"). Names
// that an inviter wrote are in a cell with a title, never within one of our sentences.

import { addressOf, go } from "../address.js";
import { post } from "../api.js";
import { html, useState } from "../html.js";
import { invitation, keepInvitation } from "../invitation.js";
import { Deed } from "../parts/form/deed.js";
import { PagedTable } from "../parts/table/table.js";
import { ExactTimes, LongName, Time } from "../parts/values/values.js";

/** The page. `put(me)`: the person has one membership more, or one invitation less. */
export function Invitations({ address, me, put }) {
  const [turn, setTurn] = useState(0);
  const fewer = (more) => put({ ...me, invitations: Math.max(0, me.invitations - 1), ...more });
  const accept = async ({ id, needsToken }) => {
    const joined = await post(`/api/invites/${id}/accept`, needsToken ? { inviteToken: invitation() } : {});
    keepInvitation(null);
    fewer({ organizations: [joined, ...me.organizations] });
    go(addressOf("metrics", { orgId: joined.id }), { replace: true });
  };
  const decline = async ({ id }) => {
    await post(`/api/invites/${id}/decline`);
    fewer();
    setTurn((was) => was + 1);
  };
  const columns = [
    { key: "organization", title: "Organization", name: true, cell: ({ organization }) => html`<${LongName} name=${organization.name} />` },
    { key: "role", title: "As", words: true, cell: ({ role }) => role },
    { key: "invitedBy", title: "Invited by", name: true, cell: inviter },
    { key: "expiresAt", title: "Ends", words: true, cell: ({ expiresAt }) => html`<${Time} at=${expiresAt} />` },
    { key: "answer", title: "Your answer", cell: (one) => html`<${Answer} ...${{ one, accept, decline }} />` },
  ];
  return html`
    <div class="page-head"><h1>Invitations</h1><${ExactTimes} /></div>
    <p>You become a member only if you accept. Then you see the organization's pages, and its members see your name and e-mail.</p>
    <section class="part">
      <${PagedTable} name="invitations" label="Invitations" thing="invitation" path="/api/invites" query=${{}} turn=${turn}
        address=${address} searched=${false} columns=${columns} rowKey=${({ id }) => id} empty=${nothing(me)} />
    </section>
  `;
}

function inviter({ invitedBy: { email, name } }) {
  return html`<${LongName} name=${email} /> ${name && html`<span class="under">${name}</span>`}`;
}

function Answer({ one, accept, decline }) {
  const may = !one.needsToken || invitation();
  const to = one.organization.name;
  return html`<div class="actions">
      ${may && html`<${Deed} main label=${`Accept the invitation to ${to}`} act=${() => accept(one)}>Accept<//>`}
      <${Deed} label=${`Decline the invitation to ${to}`} act=${() => decline(one)}>Decline<//>
    </div>
    ${!may && html`<span class="under">To accept it, open the link from the person who invited you.</span>`}`;
}

function nothing(me) {
  return html`No invitation waits for ${me.user.email}. An invitation ends after seven days, or when it is withdrawn. If a link
    brought you here, it is for another e-mail or was used: ask the person who invited you for a new one.`;
}
