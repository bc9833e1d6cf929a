// SPDX-License-Identifier: Apache-2.0
// A button that does something through the API: once at a time, with a message if it fails or takes long.

import { html, useState } from "../../html.js";
import { StillWaiting } from "../notices/notice.js";

/** `act()`: does it; `label`: what it does and to what, if its text is shorter. */
export function Deed({ act, label, main, children }) {
  const [fault, setFault] = useState(null);
  const [busy, setBusy] = useState(false);
  const press = async () => {
    if (busy) return;
    setBusy(true);
    setFault(null);
    try {
      await act();
    } catch (refused) {
      setFault(refused);
    }
    setBusy(false);
  };
  return html`<button type="button" class=${main && "main"} aria-label=${label} aria-disabled=${busy ? "true" : undefined}
      onClick=${press}>${children}</button>
    ${busy && html`<${StillWaiting} />`}
    ${fault && html`<p class="fault" role="alert">${fault.message}</p>`}`;
}
