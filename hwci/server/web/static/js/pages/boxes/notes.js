// SPDX-License-Identifier: Apache-2.0
// Notes of what was done to boxes (contract, "Boxes"): their list, and the form under a row that adds one. The API
// compares a box as a new one since its latest note, so the page asks for that comparison again after a change.

import { post, remove } from "../../api.js";
import { useAnswer } from "../../asking.js";
import { counted } from "../../format.js";
import { html, useLayoutEffect, useRef, useState } from "../../html.js";
import { Deed } from "../../parts/form/deed.js";
import { FormFault, useSending } from "../../parts/form/sending.js";
import { Section } from "../../parts/section.js";
import { PlainTable } from "../../parts/table/table.js";
import { BoxLink } from "../../parts/values/past.js";
import { LongName, Time } from "../../parts/values/values.js";

const LIMIT = 100;

/**
 * The list, latest first. `boxKey`: of one box, on whose page owners and admins write another; `turn`: a change of it asks
 * again; `changed()`: one is gone or new.
 */
export function BoxNotes({ path, orgId, boxKey = null, may, turn, changed }) {
  const { data } = useAnswer(path, { boxKey, limit: LIMIT }, turn);
  if (!data || (data.total === 0 && !(boxKey && may))) return null;
  const rest = data.total - data.items.length;
  const named = (note) => (boxKey ? html`<${LongName} name=${boxKey} />` : html`<${BoxLink} boxKey=${note.boxKey} orgId=${orgId} />`);
  return html`<${Section} title="Notes" anchor="notes" total=${data.total}>
    ${data.total > 0 && html`<${PlainTable} name="notes" label="Notes" rows=${data.items} rowKey=${({ id }) => id}
      columns=${columns(path, named, may, changed)} />`}
    ${boxKey && may && html`<${Another} ...${{ path, boxKey, changed }} />`}
    ${rest > 0 && html`<p class="quiet">${counted(rest, "earlier note", "earlier notes")}</p>`}
  <//>`;
}

/** A button that opens the form, on the page of a box. */
function Another({ path, boxKey, changed }) {
  const [text, setText] = useState(null);
  const opener = useRef(null);
  const close = () => {
    setText(null);
    opener.current.focus();
  };
  return html`<div class="actions"><button type="button" ref=${opener} aria-label=${`Note ${boxKey}`}
      aria-expanded=${text === null ? "false" : "true"} onClick=${() => setText("")}>Note…</button></div>
    ${text === null
      ? html`<p class="quiet">Note what was done to this box, such as a new cable: from then on it is compared as a new one.</p>`
      : html`<${Noting} box=${{ name: boxKey }} typed=${[text, setText]} path=${path} noted=${changed} close=${close} />`}`;
}

function columns(path, named, may, changed) {
  const shown = [
    { key: "box", title: "Box", name: true, cell: named },
    { key: "at", title: "When", words: true, cell: ({ at }) => html`<${Time} at=${at} />` },
    { key: "what", title: "What was done", own: "down", words: true, fixed: true, cell: ({ text }) => text },
    { key: "by", title: "By", words: true, cell: ({ by }) => by.name },
  ];
  const end = async ({ id }) => {
    await remove(`${path}/${id}`);
    changed();
  };
  const actions = {
    key: "actions",
    title: "Actions",
    cell: (note) => html`<${Deed} label=${`Remove the note of ${note.boxKey}`} act=${() => end(note)}>Remove<//>`,
  };
  return may ? [...shown, actions] : shown;
}

/** The form under a box: what was done to it, now. `typed`: `[text, type(text)]`; `noted()`: it is kept. */
export function Noting({ box, typed: [text, type], path, noted, close }) {
  const { busy, fault, send } = useSending();
  const field = useRef(null);
  useLayoutEffect(() => field.current.focus(), []); // before the first paint: nothing is typed yet
  const note = async () => {
    await post(path, { boxKey: box.name, text: text.trim() });
    close();
    noted();
  };
  return html`<form class="add-box" aria-label=${`Note of ${box.name}`} onSubmit=${(event) => send(event, note)}>
    <label>What was done <input ref=${field} required maxlength="1000" autocomplete="off" placeholder="New USB cable"
      value=${text} onInput=${({ target }) => type(target.value)} /></label>
    <button class="main" aria-disabled=${busy ? "true" : undefined}>Add note</button>
    <button type="button" onClick=${close}>Cancel</button>
    <${FormFault} fault=${fault} />
    <p class="quiet">From now on the box is compared as a new one, apart from its past. Done earlier:
      ${" "}<code>hwci boxes note ${box.name} TEXT --at TIME</code></p>
  </form>`;
}
