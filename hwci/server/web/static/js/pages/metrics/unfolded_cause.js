// SPDX-License-Identifier: Apache-2.0
// A cause unfolded below its row: what decided it, its failures, and for a reviewer the note and the answers.

import { html } from "../../html.js";
import { Answer } from "../../parts/reviews/answer.js";
import { CauseFailures, DecidedBy } from "../../parts/values/cause.js";

/** What stands below the row. `answer`: what `Answer` takes beside the cause; nothing for those who do not review. */
export function UnfoldedCause({ cause, orgId, answer }) {
  return html`<${DecidedBy} ...${cause} /><${CauseFailures} ...${{ orgId, cause }} />
    ${answer && html`<${Answer} ...${{ cause, ...answer }} />`}`;
}
