// SPDX-License-Identifier: Apache-2.0
// What CI leaves out, and how many ambiguous failures it would decide (ADR 0071). The API computes every figure
// and decides every sentence, and the gap that could decide most comes first.

import { change } from "../../address.js";
import { useAnswer } from "../../asking.js";
import { count, counted } from "../../format.js";
import { html } from "../../html.js";

/** The gaps of a period, below the failures that they leave ambiguous: unfolded by a click, as they take room. */
export function Gaps({ address, orgId, scope, turn }) {
  const open = address.query.get("other.gaps") === "open";
  const { data } = useAnswer(open ? `/api/orgs/${orgId}/ci-analysis/gaps` : null, scope, turn);
  const toggle = () => change({ "other.gaps": open ? null : "open" }, { replace: true });
  return html`<h3><button type="button" class="fold" aria-expanded=${open ? "true" : "false"} onClick=${toggle}>What would decide
    the ambiguous ones</button></h3>
    ${open && data && html`<${Found} data=${data} />`}`;
}

function Found({ data }) {
  if (!data.gaps.length) return html`<p class="quiet">CI left out nothing that could decide one of them.</p>`;
  const part = data.lookedAt < data.ambiguous ? ` (the newest ${count(data.lookedAt)} of them)` : "";
  return html`<p class="quiet">${counted(data.ambiguous, "failure")} that nobody reviewed${part}. Each gap by itself:</p>
    <ul class="gaps">${data.gaps.map((gap) => html`<li key=${gap.gap}>
      <p>${gap.text}: ${counted(gap.failures, "failure")}; this alone would decide ${decided(gap)}.</p>
      <p class="quiet">${gap.toDo}</p>
    </li>`)}</ul>
    ${data.gaps.length > 1 && html`<p>All together: ${counted(data.together.failures, "failure")}; this would decide
      ${" "}${decided(data.together)}.</p>`}`;
}

function decided({ atLeast, atMost }) {
  if (atMost === 0) return "none";
  return atLeast === atMost ? count(atMost) : `${count(atLeast)} to ${count(atMost)}`;
}
