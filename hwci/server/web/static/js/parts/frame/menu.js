// SPDX-License-Identifier: Apache-2.0
// A button that unfolds a few choices below it. They fold again when the focus leaves them, or by Escape.

import { html, useId, useRef, useState } from "../../html.js";

/** A menu. `label`: what the button says; `title`: its tooltip; children: the choices, or a function of what folds them. */
export function Menu({ label, title, children }) {
  const [open, setOpen] = useState(false);
  const [button, id] = [useRef(null), useId()];
  const leave = ({ currentTarget, relatedTarget }) => {
    if (currentTarget.contains(relatedTarget)) return;
    const fold = () => setOpen(false);
    // The page may be shorter without the choices: what is pressed must not move away before it is released.
    if (document.querySelector(":active")) window.addEventListener("mouseup", () => window.setTimeout(fold), { once: true });
    else fold();
  };
  const foldAgain = () => {
    setOpen(false);
    button.current.focus();
  };
  const onEscape = ({ key }) => key === "Escape" && open && foldAgain();
  // Some browsers give no focus to a button that is clicked, but to what around it can have one.
  return html`<div class="menu" tabindex="-1" onFocusOut=${leave} onKeyDown=${onEscape}>
    <button type="button" class="fold" ref=${button} title=${title} aria-expanded=${open ? "true" : "false"}
      aria-controls=${id} onClick=${() => setOpen(!open)}>${label}</button>
    <div id=${id} class="choices" hidden=${!open}>${open && (typeof children === "function" ? children(foldAgain) : children)}</div>
  </div>`;
}
