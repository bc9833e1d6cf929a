// SPDX-License-Identifier: Apache-2.0
// Renaming and removing a box (contract, "Boxes"), and noting what was done to it, each asked for under its row. A new
// name can be undone, a removal cannot: only a new install gives the box a key again.

import { patch, remove } from "../../api.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../html.js";
import { Deed } from "../../parts/form/deed.js";
import { FormFault, useSending } from "../../parts/form/sending.js";
import { Noting } from "./notes.js";
import { BOX_IS_REMOVED } from "../../words.js";

const ABOUT = { Note: Noting, Rename: Renaming, Remove: Removing };
const ASKED = "box"; // of a draft: {name, about, text}

/**
 * What is done with boxes: `{message, buttons(box), below(box)}`. `message`: what was done last; `buttons`: those of a
 * box; `below`: the question that one of them opened. `changed(removed)`: the list has changed, by the box removed if any.
 * `notes`: the path of the notes, and `noted()`: there is a new one. `draft`: of the page, with the question that is open.
 */
export function useManaging(base, changed, notes, draft) {
  const asked = draft.read(ASKED);
  const [message, setMessage] = useState(null);
  const opener = useRef(null);
  const ask = (box, about, text = "") => (event) => {
    opener.current = event.currentTarget;
    draft.write(ASKED, { name: box.name, about, text });
  };
  const close = () => {
    draft.clear(ASKED);
    opener.current?.focus(); // not that of a question from before a reload
  };
  const done = (text, removed) => {
    setMessage(text);
    changed(removed);
  };
  const rename = async ({ id, name: before }, name) => {
    await patch(`${base}/${id}`, { name });
    const undo = () => rename({ id, name }, before);
    done(html`Box ${before} is ${name} now. Give the bench this name too: <code>--box</code>, or a new install.
      ${" "}<${Deed} key=${name} label=${`Undo: rename ${name} to ${before}`} act=${undo}>Undo<//>`);
  };
  const end = async (box) => {
    await remove(`${base}/${box.id}`);
    close();
    done(`Box ${box.name} ${BOX_IS_REMOVED}`, box);
  };
  const type = (text) => draft.write(ASKED, { text });
  const { path, noted } = notes;
  const kept = (box) => () => {
    setMessage(`Noted. From now on ${box.name} is compared as a new box.`);
    noted();
  };
  return {
    message,
    buttons: (box) => html`<${Opener} verb="Note" box=${box} open=${ask(box, "Note")} />
      ${box.id && html`<${Opener} verb="Rename" box=${box} open=${ask(box, "Rename", box.name)} />
      <${Opener} verb="Remove" box=${box} open=${ask(box, "Remove")} />`}`,
    below: (box) => asked.name === box.name && html`<${ABOUT[asked.about]} key=${asked.about}
      ...${{ box, typed: [asked.text, type], rename, end, close, path, noted: kept(box) }} />`,
  };
}

function Opener({ verb, box, open }) {
  return html`<button type="button" aria-label=${`${verb} ${box.name}`} onClick=${open}>${verb}…</button>`;
}

function Renaming({ box, typed: [text, type], rename, close }) {
  const { busy, fault, send } = useSending();
  const field = useRef(null);
  useLayoutEffect(() => { // before the first paint: nothing is typed yet
    field.current.focus();
    field.current.select();
  }, []);
  const submit = async () => {
    const name = text.trim();
    if (name !== box.name) await rename(box, name);
    close();
  };
  return html`<form class="add-box" aria-label=${`Rename ${box.name}`} onSubmit=${(event) => send(event, submit)}>
    <label>New name <input ref=${field} required maxlength="255" autocomplete="off" value=${text}
      onInput=${({ target }) => type(target.value)} /></label>
    <button class="main" aria-disabled=${busy ? "true" : undefined}>Rename</button>
    <button type="button" onClick=${close}>Cancel</button>
    <${FormFault} fault=${fault} taken="Another box has this name." />
    <p class="quiet">Its key goes on. What it reported so far keeps the old name.</p>
  </form>`;
}

/** A second click, as nothing brings back the key. */
function Removing({ box, end, close }) {
  const keep = useRef(null);
  useEffect(() => keep.current.focus(), []);
  return html`<div role="group" aria-label=${`Remove ${box.name}`}>
    <p>The key of <strong>${box.name}</strong> and its install token stop at once; only a new install gives it a key again.
      What it reported stays.</p>
    <div class="actions">
      <button type="button" ref=${keep} onClick=${close}>Keep</button>
      <${Deed} act=${() => end(box)}>Remove<//>
    </div>
  </div>`;
}
