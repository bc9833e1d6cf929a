// SPDX-License-Identifier: Apache-2.0
// A key beside what it does; nothing where there is none.

import { html } from "../../html.js";

/** The key. Who hears the page is told it by `aria-keyshortcuts`. */
export function Key({ of }) {
  return of && html` <kbd class="by-key" aria-hidden="true">${of}</kbd>`;
}
