// SPDX-License-Identifier: Apache-2.0
// Links to the pages that tell what a test or a box did over time.

import { addressOf } from "../address.js";
import { html } from "../html.js";
import { LongName } from "./values.js";

/** A test by its name. `asOf`: the end of the period, if it is not now. `children`: another text. */
export function TestLink({ test: { repoKey, suite, testId }, orgId, asOf = null, children = null }) {
  const href = addressOf("test", { orgId }, { asOf, repoKey, suite, testId });
  if (children) return html`<a href=${href} aria-label=${`${children} of ${testId}`}>${children}</a>`;
  return html`<a href=${href}><${LongName} name=${testId} /></a>`;
}

/** A box by its name. `plain`: not underlined, in a row with another link. */
export function BoxLink({ boxKey, orgId, asOf = null, plain = false }) {
  const href = addressOf("box", { orgId }, { asOf, boxKey });
  return html`<a class=${plain ? "plain" : undefined} href=${href}><${LongName} name=${boxKey} /></a>`;
}
