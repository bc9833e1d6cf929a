// SPDX-License-Identifier: Apache-2.0
// What CI leaves out, and how many ambiguous failures it would decide (ADR 0009). The API computes every figure
// and decides every sentence, and the gap that could decide most comes first.

import { useAnswer } from "../../asking.js";
import { count, counted } from "../../format.js";
import { html } from "../../html.js";
import { Copyable } from "../../parts/form/copyable.js";
import { NOTHING_LEFT_OUT } from "../../words.js";

/** The gaps of a period. A change of `turn` asks again. */
export function Gaps({ orgId, scope, turn }) {
  const { data } = useAnswer(`/api/orgs/${orgId}/ci-analysis/gaps`, scope, turn);
  return data && html`<${Found} data=${data} />`;
}

function Found({ data }) {
  if (!data.gaps.length) return html`<p class="quiet">${NOTHING_LEFT_OUT}.</p>`;
  const others = data.lookedAt - data.together.failures;
  const part = data.lookedAt < data.ambiguous ? ` (the newest ${count(data.lookedAt)} of them)` : "";
  return html`<p class="quiet">${counted(data.ambiguous, "failure")} that nobody reviewed${part}. Each gap by itself:</p>
    <ul class="gaps">${data.gaps.map((gap) => html`<li key=${gap.gap}>
      <p>${gap.text}: ${counted(gap.failures, "failure")}; this alone would decide ${decided(gap)}.</p>
      <p class="quiet">${gap.toDo}</p>
      ${gap.ciLines.map((one) => html`<p class="quiet">${one.where}:</p>
        <${Copyable} label=${`Lines of CI: ${gap.text}`} text=${one.lines} />`)}
    </li>`)}</ul>
    ${data.gaps.length > 1 && html`<p>All together: ${counted(data.together.failures, "failure")}; this would decide
      ${" "}${decided(data.together)}.</p>`}
    ${others > 0 && html`<p class="quiet">${count(others)} ${others === 1 ? "other lacks" : "others lack"} nothing that CI could
      send: a person decides, with the buttons above.</p>`}`;
}

function decided({ atLeast, atMost }) {
  if (atMost === 0) return "none";
  return atLeast === atMost ? count(atMost) : `${count(atLeast)} to ${count(atMost)}`;
}
