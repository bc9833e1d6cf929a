// SPDX-License-Identifier: Apache-2.0
// What would give a failure another class (ADR 0009), the first of each kind. The API decides every sentence.

import { counted } from "../../format.js";
import { html } from "../../html.js";
import { Section } from "../../parts/section.js";
import { CLASSES, OTHERS_OF_A_KIND } from "../../words.js";

/** The section; nothing if no edit would change the class, or nothing is `explained` yet. */
export function WhatIf({ explained: data }) {
  if (!data?.edits.length) return null;
  // Patterns come last: the configuration is rarely wrong.
  const patterns = data.edits.filter((edit) => edit.pattern !== null);
  return html`<${Section} title="What would change the class">
    <${Edits} edits=${data.edits.filter((edit) => edit.pattern === null)} />
    ${patterns.length > 0 && html`<p>Only if the configured paths are wrong or missing:</p><${Edits} edits=${patterns} />`}
    ${!data.complete && html`<p class="quiet">There may be more: not everything was tried.</p>`}
  <//>`;
}

function Edits({ edits }) {
  const kinds = Object.keys(CLASSES).flatMap((name) => ofKinds(edits.filter((edit) => edit.class === name)));
  return html`<ul class="what-if">${kinds.map(([first, ...others]) => html`<li key=${`${first.class} ${first.kind}`}>
    <p>${CLASSES[first.class].wouldBe} ${first.condition}.</p>
    <p class="quiet">${first.toDo}${alike(others)}</p>
  </li>`)}</ul>`;
}

/** Group edits of one class by their kind. */
function ofKinds(edits) {
  const kinds = new Map();
  for (const edit of edits) kinds.set(edit.kind, [...(kinds.get(edit.kind) ?? []), edit]);
  return [...kinds.values()];
}

function alike(others) {
  return others.length > 0 && ` (${counted(others.length, "other change")} ${OTHERS_OF_A_KIND}.)`;
}
