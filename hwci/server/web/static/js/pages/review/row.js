// SPDX-License-Identifier: Apache-2.0
// One cause of the inbox: a line, and unfolded its failures, what the reader writes about them, and the two answers.

import { html } from "../../html.js";
import { CauseFacts, CauseFailures, DecidedBy } from "../../parts/values/cause.js";
import { causeName } from "../../parts/values/cause_name.js";
import { Answer } from "../../parts/reviews/answer.js";
import { Badge } from "../../parts/values/values.js";
import { classBadge } from "../../parts/values/words.js";

/** The row. `open`: it is the one that is looked at; `begin`, `keys`: as `Answer` takes them. */
export function Row({ cause, open, onOpen, begin, keys, orgId, together, review, draft, may }) {
  const classes = [...new Set(cause.failures.map((one) => one.class))];
  const reviewed = cause.failures.every(({ review }) => review);
  const name = causeName(cause);
  return html`<li class="cause">
    <button type="button" class="fold" aria-expanded=${open ? "true" : "false"} onClick=${onOpen}>${name}</button>
    ${" "}${classes.map((one) => html`${classBadge(one)} `)}
    ${reviewed && html`<${Badge} kind="good">reviewed<//>`}
    <${CauseFacts} ...${{ cause, open }} />
    ${(open || reviewed) && html`<${DecidedBy} ...${cause} />`}
    ${open && html`<${CauseFailures} orgId=${orgId} cause=${cause} />
      ${may && html`<${Answer} ...${{ cause, name, together, review, draft, begin, keys }} />`}`}
  </li>`;
}
