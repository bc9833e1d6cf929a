// SPDX-License-Identifier: Apache-2.0
// What went wrong with a review (`useTogether`), or that its answer is late; and after no answer the button that looks what
// became of it.

import { html } from "../../html.js";
import { StillWaiting } from "../notices/notice.js";
import { doneBy } from "./outcome.js";
import { LOOKING } from "./together.js";

/** `id`: what was reviewed; `focus`: a reference to what takes the focus from the button, which goes away. */
export function Refused({ together, id, focus }) {
  const { doing, fault, lost } = together.stateOf(id);
  const look = () => {
    focus.current.focus();
    together.look(id);
  };
  if (doing) return doing === LOOKING ? html`<span class="quiet" role="status">Looking…</span>` : html`<${StillWaiting} />`;
  return fault && html`<p class="fault" role="alert">${lost && `Nobody knows yet whether it was ${doneBy(lost)}. `}${fault.message}
    ${lost && html` <button type="button" onClick=${look}>Look again</button>`}
    ${fault.requestId && html` <span class="request">Request ${fault.requestId}</span>`}</p>`;
}
