// SPDX-License-Identifier: Apache-2.0
// A titled part of a page. The address has which of the collapsible ones are open. `anchor` is the name of a
// section after the `#` of an address.

import { count } from "../format.js";
import { html, useId } from "../html.js";

/** A section with its title and how many rows it has; `rows`: how many of them, where a switch leaves some out. */
export function Section({ title, total, rows = total, anchor, children }) {
  const id = useId();
  return html`<section class="part" id=${anchor} aria-labelledby=${id}>
    <h2 id=${id} tabindex="-1">${title}${total !== undefined &&
      html` <span class="total">${rows !== total && `${count(rows)} of `}${count(total)}</span>`}</h2>
    ${children}
  </section>`;
}

/** A section that is collapsed until its title is clicked. */
export function Collapsed({ title, total, anchor, open, onToggle, children }) {
  const id = useId();
  return html`<section class="part" id=${anchor}>
    <h2><button type="button" class="fold" aria-expanded=${open ? "true" : "false"} aria-controls=${id} onClick=${onToggle}>
      ${title}${total !== undefined && html` <span class="total">${count(total)}</span>`}
    </button></h2>
    <div id=${id} hidden=${!open}>${open && children}</div>
  </section>`;
}

/** Scroll to a section, and move the focus there. */
export function showSection(anchor) {
  const section = document.getElementById(anchor);
  if (!section?.matches(".part")) return;
  section.scrollIntoView({ block: "start" });
  titleOf(section).focus({ preventScroll: true });
}

/** What of a section takes the focus in its place. */
export function titleOf(section) {
  return section.querySelector("h2 .fold") ?? section.querySelector("h2");
}
