// SPDX-License-Identifier: Apache-2.0
// The dialog that lists keys. Which ones there are, `keys.js` knows.

import { html, useLayoutEffect, useRef } from "../../html.js";

/** The dialog. `rows`: the keys, each with its title; `close()`: it was closed. */
export function KeysDialog({ rows, close }) {
  const dialog = useRef(null);
  useLayoutEffect(() => dialog.current.showModal(), []);
  return html`<dialog class="keys" ref=${dialog} aria-label="Keys" onClose=${close}
      onClick=${({ target }) => target === dialog.current && dialog.current.close()}>
    <h2>Keys</h2>
    <dl>${rows.map(({ key, title }) => html`<dt key=${key}><kbd>${key}</kbd></dt><dd>${title}</dd>`)}</dl>
    <form method="dialog"><button>Close</button></form>
  </dialog>`;
}
