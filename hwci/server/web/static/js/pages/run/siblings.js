// SPDX-License-Identifier: Apache-2.0
// What else CI started as the same run: on other boxes, and on this one when somebody ran it again.

import { addressOf } from "../../address.js";
import { useAll } from "../../asking.js";
import { html } from "../../html.js";
import { Section } from "../../parts/section.js";
import { PlainTable } from "../../parts/table/table.js";
import { runColumns } from "../runs/columns.js";

const SHOWN = new Set(["status", "startedAt", "duration", "passed", "failed", "retried"]);

/** The section; nothing where there are none. */
export function Siblings({ run, orgId }) {
  const { repoKey, sha } = run;
  const answer = useAll(`/api/orgs/${orgId}/runs`, { repoKey, sha });
  const others = (answer.data ?? []).filter(({ id, runId }) => runId === run.runId && id !== run.id);
  if (others.length === 0) return null;
  const on = {
    key: "attempt",
    fields: ["boxKey", "runAttempt"],
    title: "Run",
    cell: ({ id, runAttempt, boxKey }) =>
      html`<a href=${addressOf("run", { orgId, runId: id })}>attempt ${runAttempt} on ${boxKey}</a>`,
  };
  const columns = [on, ...runColumns(orgId).filter(({ key }) => SHOWN.has(key))];
  const { title, about } = told(run, others);
  return html`<${Section} title=${title} total=${others.length} anchor="others">
    <p class="quiet">${about}</p>
    <${PlainTable} name="attempts" label=${title} rows=${others} rowKey=${({ id }) => id} columns=${columns} />
  <//>`;
}

/** What the others are. CI counts an attempt more each time that somebody starts the run again. */
function told({ ciRun, runId, boxKey, runAttempt }, others) {
  const elsewhere = others.some((one) => one.boxKey !== boxKey);
  const again = others.some((one) => one.runAttempt !== runAttempt);
  const where = [elsewhere && " on other boxes", again && ", started again"].filter(Boolean).join("");
  const attempts = again ? " An attempt after the first is the run again, or its failed jobs." : "";
  return {
    title: `The same CI run${where}`,
    about: `CI started these under the number ${ciRun ?? runId}, too, on the same commit.${attempts}`,
  };
}
