// SPDX-License-Identifier: Apache-2.0
// Confirm, Dismiss and Reset on a failure's page (spec, "Review of a resolved failure"), what the reviewer writes
// about it, and its result. Members see the result and no buttons.

import { html, useRef, useState } from "../../html.js";
import { Field, faultsOf } from "../../parts/form/field.js";
import { fittingActions, review } from "../../parts/reviews/review.js";

const DONE = {
  confirm: "Confirmed: counted as a real firmware bug.",
  settle: "Confirmed, then dismissed: not counted as a real firmware bug.",
  dismiss: "Dismissed: no longer counted as a real firmware bug.",
  reset: "Reset: the checks decide again.",
};

/** The review of a resolved failure. `answer`: that of the page, which gets the new state at once. */
export function Review({ evidence, answer, orgId, reviewer }) {
  const { failure, resolved } = evidence;
  const [state, setState] = useState({ busy: false, done: "", fault: null });
  const [written, setWritten] = useState({});
  const place = useRef(null);
  const act = async (action) => {
    if (state.busy) return;
    setState({ busy: true, done: "", fault: null });
    try {
      const now = await review(orgId, failure.id, action, given(written));
      setWritten({});
      show(answer, evidence, now);
      setState({ busy: false, done: DONE[action], fault: null });
      place.current?.focus(); // the button that was pressed is gone
    } catch (fault) {
      setState({ busy: false, done: "", fault });
      if (fault.status !== 400) answer.again(); // somebody else reviewed it meanwhile, or one step of two is done
    }
  };
  const write = ({ target }) => setWritten({ ...written, [target.name]: target.value });
  const faults = faultsOf(state.fault);
  const field = (name, title, rest) => html`<${Field} key=${name} name=${name} title=${title} fault=${faults[name]}
    value=${written[name] ?? ""} onInput=${write} ...${rest} />`;
  return html`<div class="review" role="group" aria-label="Review" tabindex="-1" ref=${place}>
    ${reviewer && html`<div class="review-words">${field("note", "Note (optional)", { maxlength: 1000 })}
      ${field("issue", "Issue link (optional)", { type: "url", maxlength: 2000, placeholder: "https://" })}</div>`}
    ${reviewer && fittingActions(resolved).map(
      ({ name, title, hint }) => html`<button key=${name} type="button" title=${hint}
        aria-disabled=${state.busy ? "true" : undefined} onClick=${() => act(name)}>${title}</button>`,
    )}
    <span role="status">${state.done}</span>
    ${state.fault && !Object.keys(faults).length && html`<span class="failed" role="alert">${state.fault.message}</span>`}
  </div>`;
}

/** What was written in the fields; nothing if all are empty. */
function given(written) {
  const filled = Object.entries(written).map(([name, text]) => [name, text.trim()]).filter(([, text]) => text);
  return filled.length ? Object.fromEntries(filled) : undefined;
}

function show(answer, evidence, now) {
  if (now.label === "resolved") answer.put({ ...evidence, resolved: now });
  else answer.again(); // without its review it is a flake or pending, and has another page
}
