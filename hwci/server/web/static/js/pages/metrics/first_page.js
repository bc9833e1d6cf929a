// SPDX-License-Identifier: Apache-2.0
// What the page asks for beside its tables (ADR 0013), as the first page of one of them, and what the server did not get to
// (ADR 0002).

import { html } from "../../html.js";

/** What stands in place of a figure that the server left out. */
export const LEFT_OUT = html`<p class="empty">Not computed: too much for one answer. Choose fewer days or one product.</p>`;

/** The first page, which is `of(data)`; null: somebody asks for it, undefined: nobody will, or the server left it out. */
export function firstOf({ data, error, loading }, of = (rows) => rows) {
  if (loading) return null;
  return error ? undefined : (of(data) ?? undefined);
}
