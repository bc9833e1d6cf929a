// SPDX-License-Identifier: Apache-2.0
// A field of a form, with a hint how to fill it in, and with its error.

import { html } from "../../html.js";

/** What `new-password` fields have in common: the rule that the API has. */
export const NEW_PASSWORD = {
  type: "password",
  autocomplete: "new-password",
  required: true,
  minlength: 12,
  hint: "At least 12 characters. A few words together work well.",
};

/** Return the faults of a refusal by the fields of the body. */
export function faultsOf(refused) {
  return Object.fromEntries((refused?.issues ?? []).map(({ path, message }) => [path[1], message]));
}

/** A field. `fault`: what was wrong with it; `id`: where a page has several of the name. The rest is its input's. */
export function Field({ name, id = name, title, hint, fault, ...input }) {
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(" ");
  return html`<div class="field">
    <label for=${id}>${title}</label>
    <input id=${id} name=${name} ...${input} aria-describedby=${described || undefined} aria-invalid=${fault ? "true" : undefined} />
    ${hint && html`<p class="quiet" id=${`${id}-hint`}>${hint}</p>`}
    ${fault && html`<p class="fault" id=${`${id}-fault`} role="alert">${fault}</p>`}
  </div>`;
}
