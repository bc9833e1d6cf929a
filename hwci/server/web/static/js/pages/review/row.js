// SPDX-License-Identifier: Apache-2.0
// One cause of the inbox: a line, and unfolded its failures, what the reader writes about them, and the two answers.

import { html, useRef } from "../../html.js";
import { CauseFacts, CauseFailures, causeName } from "../../parts/values/cause.js";
import { Refused } from "../../parts/reviews/refused.js";
import { reviewsOf } from "../../parts/reviews/together.js";
import { ReviewWords, isAboutWords } from "../../parts/reviews/words.js";
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
  const place = useRef(null);
  const may = !doing && !lost;
  const fitting = ANSWERS.filter(([action]) => reviewsOf(cause.failures, action).length > 0);
  return html`<${ReviewWords} draft=${draft} id=${cause.id} fault=${fault} />
    <div class="actions" role="group" aria-label="Review" tabindex="-1" ref=${place}>${fitting.map(([action, title]) => html`<button
      key=${action} type="button" aria-disabled=${may ? undefined : "true"} aria-label=${`${title}: ${name}`}
      onClick=${() => may && together.review(cause.id, cause.failures, action, draft.of(cause.id))}>${title}</button>`)}</div>
    ${!isAboutWords(fault) && html`<${Refused} ...${{ together, id: cause.id, focus: place }} />`}`;
}
