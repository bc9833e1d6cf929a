// SPDX-License-Identifier: Apache-2.0
// Notes of what was done to boxes (contract, "Boxes"): their list, and the form under a row that adds one. The API
// compares a box as a new one since its latest note, so the page asks for that comparison again after a change.

import { addressOf } from "../../address.js";
import { post, remove } from "../../api.js";
import { useAnswer } from "../../asking.js";
import { counted } from "../../format.js";
import { html, useLayoutEffect, useRef } from "../../html.js";
import { Deed } from "../../parts/form/deed.js";
import { FormFault, useSending } from "../../parts/form/sending.js";
import { Section } from "../../parts/section.js";
import { PlainTable } from "../../parts/table/table.js";
import { BoxLink } from "../../parts/values/past.js";
import { LongName, Time } from "../../parts/values/values.js";

const LIMIT = 100;

/**
 * The list, latest first; where there is none, on the page of a box the way to note something. `boxKey`: of one box;
 * `turn`: a change of it asks again; `removed()`: one is gone.
 */
export function BoxNotes({ path, orgId, boxKey = null, may, turn, removed }) {
  const { data } = useAnswer(path, { boxKey, limit: LIMIT }, turn);
  if (data?.total === 0 && boxKey && may) {
    return html`<${Section} title="Notes"><p class="quiet">None yet. Note in <a href=${addressOf("boxes", { orgId })}>Boxes</a> what was
      done to this box, such as a new cable: from then on it is compared as a new one.</p><//>`;
  }
  if (!data?.items.length) return null;
  const rest = data.total - data.items.length;
  const named = (note) => (boxKey ? html`<${LongName} name=${boxKey} />` : html`<${BoxLink} boxKey=${note.boxKey} orgId=${orgId} />`);
  return html`<${Section} title="Notes" total=${data.total}>
    <${PlainTable} name="notes" label="Notes" rows=${data.items} rowKey=${({ id }) => id} columns=${columns(path, named, may, removed)} />
    ${rest > 0 && html`<p class="quiet">${counted(rest, "earlier note", "earlier notes")}</p>`}
  <//>`;
}

function columns(path, named, may, removed) {
  const shown = [
    { key: "box", title: "Box", name: true, cell: named },
    { key: "at", title: "When", words: true, cell: ({ at }) => html`<${Time} at=${at} />` },
    { key: "what", title: "What was done", own: "down", words: true, fixed: true, cell: ({ text }) => text },
    { key: "by", title: "By", words: true, cell: ({ by }) => by.name },
  ];
  const end = async ({ id, boxKey }) => {
    await remove(`${path}/${id}`);
    removed(boxKey);
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
