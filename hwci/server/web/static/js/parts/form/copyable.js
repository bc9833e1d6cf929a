// SPDX-License-Identifier: Apache-2.0
// A text to copy, such as a command or a token, with a button that copies it.

import { html, useState } from "../../html.js";
import { copied } from "../values/values.js";

/** `label`: what it is, within a sentence; `text`: of one line or more. */
export function Copyable({ label, text }) {
  const [status, setStatus] = useState("");
  const copy = async (event) => {
    setStatus((await copied(text, event.currentTarget)) ? "copied" : "select it and copy it by hand");
  };
  return html`<div class="copyable"><code>${text}</code>
    <button type="button" aria-label=${`Copy ${label.toLowerCase()}`} onClick=${copy}>Copy</button>
    <span class="quiet" role="status">${status}</span></div>`;
}
