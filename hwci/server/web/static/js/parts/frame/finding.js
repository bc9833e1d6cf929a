// SPDX-License-Identifier: Apache-2.0
// The button and the keys (Ctrl-K) that open the finder. It is loaded when it is opened first.

import { html, useEffect, useState } from "../../html.js";
import { later } from "../later.js";

const Finder = later(() => import("./finder.js"), "Finder");

/** The button. `places`: the pages that it finds, as `[page, title]`. */
export function Finding({ orgId, organization, places }) {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const press = (event) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      event.preventDefault();
      setOpen(true);
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
  return html`
    <button type="button" class="find" title="Find a test, commit, box, product or page" aria-haspopup="dialog"
      aria-keyshortcuts="Control+K Meta+K" onClick=${() => setOpen(true)}>Find <kbd aria-hidden="true">Ctrl K</kbd></button>
    ${open && html`<${Finder} key=${orgId} ...${{ orgId, organization, places }} close=${() => setOpen(false)} />`}
  `;
}
