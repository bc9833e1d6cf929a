// SPDX-License-Identifier: Apache-2.0
// The button and the keys (Ctrl-K) that open the finder: a dialog with a field, which takes what is typed at once. What
// fits is loaded when it is opened first.

import { html, useLayoutEffect, useRef, useState } from "../../html.js";
import { later } from "../later.js";
import { useKeys } from "./keys.js";

const Found = later(() => import("./finder.js"), "Found");
const KINDS = "test, commit, box, product or page";

/** The button. `places`: the pages that it finds, as `[page, title]`; the rest as `Found` takes it. */
export function Finding({ orgId, ...rest }) {
  const [open, setOpen] = useState(false);
  useKeys([{ key: "Ctrl K", title: `Find a ${KINDS}`, act: () => setOpen(true) }]);
  return html`
    <button type="button" class="find" title="Find a test, commit, box, product or page" aria-haspopup="dialog"
      aria-keyshortcuts="Control+K Meta+K" onClick=${() => setOpen(true)}>Find <kbd aria-hidden="true">Ctrl K</kbd></button>
    ${open && html`<${Finder} key=${orgId} ...${{ orgId, ...rest }} close=${() => setOpen(false)} />`}
  `;
}

/** The dialog. `close()`: it was closed. */
function Finder({ close, ...rest }) {
  const dialog = useRef(null);
  const [text, setText] = useState("");
  const [entered, setEntered] = useState(false);
  const [list, setList] = useState({ id: undefined, chosen: undefined }); // what the field tells of it
  const move = useRef(null); // goes up and down in the list, once that is there
  useLayoutEffect(() => dialog.current.showModal(), []); // before the browser draws: the first letter may come sooner
  const keys = { ArrowDown: () => move.current?.(1), ArrowUp: () => move.current?.(-1), Enter: () => setEntered(true) };
  const press = (event) => {
    if (!keys[event.key] || event.isComposing) return;
    event.preventDefault();
    keys[event.key]();
  };
  const type = ({ target }) => {
    setText(target.value);
    setEntered(false);
  };
  return html`<dialog class="finder" ref=${dialog} aria-label="Find" onClose=${close}
      onClick=${({ target }) => target === dialog.current && dialog.current.close()}>
    <input type="text" role="combobox" aria-label=${`Find a ${KINDS}`} placeholder=${`A ${KINDS}`}
      aria-expanded=${list.chosen ? "true" : "false"} aria-controls=${list.id} aria-autocomplete="list"
      aria-activedescendant=${list.chosen} autocomplete="off" spellcheck="false" maxlength="200" value=${text}
      onInput=${type} onKeyDown=${press} />
    <${Found} ...${{ ...rest, text, entered, setEntered, setList, move }} leave=${() => dialog.current.close()} />
  </dialog>`;
}
