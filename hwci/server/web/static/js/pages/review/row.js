// SPDX-License-Identifier: Apache-2.0
// One cause of the inbox: a line, and unfolded its failures, what the reader writes about them, and the two answers.

import { html, useRef } from "../../html.js";
import { CauseFacts, CauseFailures, causeName } from "../../parts/values/cause.js";
import { Field, faultsOf } from "../../parts/form/field.js";
import { reviewsOf } from "../../parts/reviews/together.js";
import { Badge } from "../../parts/values/values.js";
import { classBadge } from "../../parts/values/words.js";

const ANSWERS = [
  ["confirm", "Confirm as firmware bug"],
  ["dismiss", "Not a firmware bug"],
];

/** The row. `open`: it is the one that is looked at. */
export function Row({ cause, open, onOpen, orgId, together, draft, may }) {
  const classes = [...new Set(cause.failures.map((one) => one.class))];
  const reviewed = cause.failures.every(({ review }) => review);
  const name = causeName(cause);
  return html`<li class="cause">
    <button type="button" class="fold" aria-expanded=${open ? "true" : "false"} onClick=${onOpen}>${name}</button>
    ${" "}${classes.map((one) => html`${classBadge(one)} `)}
    ${reviewed && html`<${Badge} kind="good">reviewed<//>`}
    <${CauseFacts} cause=${cause} />
    ${open && html`<${CauseFailures} orgId=${orgId} cause=${cause} />
      ${may && html`<${Answer} ...${{ cause, name, together, draft }} />`}`}
  </li>`;
}

function Answer({ cause, name, together, draft }) {
  const { doing, fault, lost } = together.stateOf(cause.id);
  const written = draft.read(cause.id);
  const write = ({ target }) => draft.write(cause.id, { [target.name]: target.value });
  const faults = wordFaults(fault);
  const place = useRef(null);
  const look = () => {
    place.current.focus(); // the button that was pressed goes away
    together.look(cause.id);
  };
  const field = (key, title, rest) => html`<${Field} key=${key} name=${key} title=${title} fault=${faults[key]}
    value=${written[key] ?? ""} onInput=${write} ...${rest} />`;
  return html`<div class="review-words">${field("note", "Note (optional)", { maxlength: 1000 })}
      ${field("issue", "Issue link (optional)", { type: "url", maxlength: 2000, placeholder: "https://" })}</div>
    <div class="actions" role="group" aria-label="Review" tabindex="-1" ref=${place}>${ANSWERS.map(([action, title]) => {
      const fits = reviewsOf(cause.failures, action).length > 0;
      const may = fits && !doing && !lost;
      return html`<button key=${action} type="button" aria-disabled=${may ? undefined : "true"} aria-label=${`${title}: ${name}`}
        onClick=${() => may && together.review(cause.id, cause.failures, action, draft.of(cause.id))}>${title}</button>`;
    })}</div>
    ${fault && !Object.keys(faults).length && html`<p class="fault" role="alert">${lost && "Nobody knows yet whether it was reviewed. "}
      ${fault.message} ${lost && html`<button type="button" onClick=${look}>Look again</button>`}</p>`}`;
}

/** The faults of note and issue by name; each review of the request has the same. */
function wordFaults(fault) {
  const own = (fault?.issues ?? []).filter(({ path }) => path[1] === "reviews");
  return faultsOf({ issues: own.map(({ path, message }) => ({ path: [path[0], path.at(-1)], message })) });
}
