// SPDX-License-Identifier: Apache-2.0
// How a form is sent: once at a time, with what was wrong with it below.

import { html, useState } from "../../html.js";

/** Return `{busy, fault, send(event, work)}` of a form. */
export function useSending() {
  const [state, setState] = useState({ busy: false, fault: null });
  const send = async (event, work) => {
    event.preventDefault();
    if (state.busy) return;
    setState({ busy: true, fault: null });
    try {
      await work();
      setState({ busy: false, fault: null });
    } catch (fault) {
      setState({ busy: false, fault });
    }
  };
  return { ...state, send };
}

/** What was wrong, if anything. `taken`: what to say if the server has such a thing already (409). */
export function FormFault({ fault, taken = null }) {
  if (!fault) return null;
  const { status, message, issues = [] } = fault;
  const said = status === 409 && taken ? taken : issues.map((issue) => issue.message).join("; ") || message;
  return html`<p class="fault" role="alert">${said}</p>`;
}
