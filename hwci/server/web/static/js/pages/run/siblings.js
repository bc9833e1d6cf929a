// SPDX-License-Identifier: Apache-2.0
// The other records of the same CI run: its other attempts, and its other boxes.

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
  const attempt = {
    key: "attempt",
    title: "Attempt",
    cell: ({ id, runAttempt, boxKey }) =>
      html`<a href=${addressOf("run", { orgId, runId: id })}>attempt ${runAttempt} on ${boxKey}</a>`,
  };
  const columns = [attempt, ...runColumns(orgId).filter(({ key }) => SHOWN.has(key))];
  return html`<${Section} title="Other attempts and boxes of this run" total=${others.length} anchor="others">
    <${PlainTable} name="attempts" label="Other attempts and boxes" rows=${others} rowKey=${({ id }) => id} columns=${columns} />
  <//>`;
}
