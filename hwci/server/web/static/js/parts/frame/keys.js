// SPDX-License-Identifier: Apache-2.0
// The keys of a page: what each does, in the one table that binds them and lists them (`?`).

import { html, useLayoutEffect, useRef, useState } from "../../html.js";
import { later } from "../later.js";

const KeysDialog = later(() => import("./keys_dialog.js"), "KeysDialog");

/** @typedef {{key: string, title: string, act?: () => void}} KeyRow */

/** @type {Set<{current: KeyRow[]}>} */
const bound = new Set(); // what is on the page, in the order in which it came

/**
 * Bind keys while a view is shown: rows of a key ("j", "Ctrl K"), what it does, and the function that does it, if there is anything to
 * do now. A key alone is none while somebody writes or a dialog is open; Ctrl is also the Cmd of a Mac.
 * @param {KeyRow[]} rows
 */
export function useKeys(rows) {
  const latest = useRef(rows);
  latest.current = rows;
  // Before the page is seen, so that the first key counts.
  useLayoutEffect(() => {
    bound.add(latest);
    const press = (event) => {
      const row = latest.current.find(({ key }) => key === nameOf(event));
      if (!row?.act || event.repeat || (row.key.length === 1 && isTaken(event))) return;
      event.preventDefault();
      row.act();
    };
    document.addEventListener("keydown", press);
    return () => {
      document.removeEventListener("keydown", press);
      bound.delete(latest);
    };
  }, []);
}

/** What the keys of the page do, in a dialog that `?` opens. */
export function Keys() {
  const [rows, setRows] = useState(/** @type {KeyRow[] | null} */ (null));
  useKeys([{ key: "?", title: "Show these keys", act: () => setRows([...bound].flatMap(({ current }) => current)) }]);
  return rows && html`<${KeysDialog} rows=${rows} close=${() => setRows(null)} />`;
}

/** The name of the key that was pressed, as a row has it; none with a modifier that no row has. */
function nameOf({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  if (altKey) return "";
  if (!ctrlKey && !metaKey) return key;
  return shiftKey ? "" : `Ctrl ${key.toUpperCase()}`;
}

function isTaken({ target }) {
  return target.closest?.("input, textarea, select") || document.querySelector("dialog[open]");
}
