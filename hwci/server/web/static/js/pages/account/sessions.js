// SPDX-License-Identifier: Apache-2.0
// The sessions of the person, and buttons that end them. The server names the program of a session.

import { remove } from "../../api.js";
import { counted, moment } from "../../format.js";
import { html, useState } from "../../html.js";
import { PagedTable } from "../../parts/table/table.js";
import { Badge, Time } from "../../parts/values/values.js";
import { signOut } from "../../session.js";

const PATH = "/api/auth/sessions";

/** The list of sessions. `turn`: a change of it asks again; `changed()`: the list has changed. */
export function Sessions({ address, turn, changed }) {
  const [fault, setFault] = useState(null);
  const [status, setStatus] = useState("");
  const act = async (work) => {
    setFault(null);
    setStatus("");
    try {
      setStatus(await work());
      changed();
    } catch (refused) {
      setFault(refused);
    }
  };
  const end = ({ id }) => act(() => remove(`${PATH}/${id}`).then(() => "Session ended."));
  const endOthers = () => act(async () => `${counted((await remove(PATH)).ended, "other session")} ended.`);
  const leave = () => act(() => signOut().then(() => ""));
  return html`
    <${PagedTable} name="sessions" label="Sessions" thing="session" path=${PATH} query=${{}} turn=${turn} address=${address}
      searched=${false} columns=${columns({ end, leave })} rowKey=${({ id }) => id} empty="There is no session." />
    <div class="actions only"><button type="button" onClick=${endOthers}>End all other sessions</button></div>
    ${fault && html`<p class="fault" role="alert">${fault.message}</p>`}
    <p role="status">${status}</p>
  `;
}

function columns({ end, leave }) {
  return [
    { key: "client", title: "From", cell: from },
    { key: "createdAt", title: "Began", own: "down", words: true, cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
    { key: "lastUsedAt", title: "Last used", words: true, cell: ({ lastUsedAt }) => html`<${Time} at=${lastUsedAt} />` },
    { key: "end", title: "End", cell: (session) => ending(session, { end, leave }) },
  ];
}

function from({ client, current }) {
  const mark = html` <${Badge} kind="good" title="The session of this page">this one<//>`;
  return html`${client}${current && mark}`;
}

function ending(session, { end, leave }) {
  if (session.current) return html`<div class="actions"><button type="button" onClick=${leave}>Sign out here</button></div>`;
  const which = `End the session from ${session.client} that began ${moment(session.createdAt)}`;
  return html`<div class="actions">
    <button type="button" aria-label=${which} onClick=${() => end(session)}>End</button>
  </div>`;
}
