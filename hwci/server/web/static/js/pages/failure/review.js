// SPDX-License-Identifier: Apache-2.0
// Confirm, Dismiss and Reset on a failure's page (spec, "Review of a resolved failure"), and its result.
// Members see the result and no buttons.

import { html, useRef, useState } from "../../html.js";
import { fittingActions, review } from "../../parts/review.js";

const DONE = {
  confirm: "Confirmed: counted as a real firmware bug.",
  dismiss: "Dismissed: no longer counted as a real firmware bug.",
  reset: "Reset: the checks decide again.",
};

/** The review of a resolved failure. `answer`: that of the page, which gets the new state at once. */
export function Review({ evidence, answer, orgId, reviewer }) {
  const { failure, resolved } = evidence;
  const [state, setState] = useState({ busy: false, done: "", fault: null });
  const place = useRef(null);
  const act = async (action) => {
    if (state.busy) return;
    setState({ busy: true, done: "", fault: null });
    try {
      const now = await review(orgId, failure.id, action);
      show(answer, evidence, now);
      setState({ busy: false, done: DONE[action], fault: null });
      place.current?.focus(); // the button that was pressed is gone
    } catch (fault) {
      setState({ busy: false, done: "", fault });
      if (fault.status === 409) answer.again(); // somebody else reviewed it meanwhile
    }
  };
  return html`<div class="review" role="group" aria-label="Review" tabindex="-1" ref=${place}>
    ${reviewer && fittingActions(resolved).map(
      ({ name, title, hint }) => html`<button key=${name} type="button" title=${hint}
        aria-disabled=${state.busy ? "true" : undefined} onClick=${() => act(name)}>${title}</button>`,
    )}
    <span role="status">${state.done}</span>
    ${state.fault && html`<span class="failed" role="alert">${state.fault.message}</span>`}
  </div>`;
}

function show(answer, evidence, now) {
  if (now.label === "resolved") answer.put({ ...evidence, resolved: now });
  else answer.again(); // without its review it is a flake or pending, and has another page
}
