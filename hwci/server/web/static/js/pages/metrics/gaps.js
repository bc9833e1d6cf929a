// SPDX-License-Identifier: Apache-2.0
// What CI leaves out, and how many ambiguous failures it would decide (ADR 0071). The API computes every figure
// and decides every sentence, and the gap that could decide most comes first.

import { useAnswer } from "../../asking.js";
import { count, counted } from "../../format.js";
import { html } from "../../html.js";

/** The gaps of a period, below the failures that they leave ambiguous. */
export function Gaps({ orgId, scope, turn }) {
  const { data } = useAnswer(`/api/orgs/${orgId}/ci-analysis/gaps`, scope, turn);
  if (!data?.gaps.length) return null;
  const part = data.lookedAt < data.ambiguous ? ` (the newest ${count(data.lookedAt)} of them)` : "";
  return html`<h3>What would decide the ambiguous ones</h3>
    <p class="quiet">${counted(data.ambiguous, "failure")} that nobody reviewed${part}. Each gap by itself:</p>
    <ul class="gaps">${data.gaps.map((gap) => html`<li key=${gap.gap}>
      <p>${gap.text}: ${counted(gap.failures, "failure")}; ${decides(gap)}.</p>
      <p class="quiet">${gap.toDo}</p>
    </li>`)}</ul>`;
}

function decides({ atLeast, atMost }) {
  if (atMost === 0) return "this alone would decide none";
  return `this alone would decide ${atLeast === atMost ? count(atMost) : `${count(atLeast)} to ${count(atMost)}`}`;
}
