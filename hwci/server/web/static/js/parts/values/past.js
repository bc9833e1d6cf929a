// SPDX-License-Identifier: Apache-2.0
// Links to the pages that tell what a test or a box did over time.

import { addressOf } from "../../address.js";
import { html } from "../../html.js";
import { LongName } from "./values.js";

/** A test by its name. `asOf`: the end of the period, if it is not now. `plain`: not underlined. */
export function TestLink({ test: { repoKey, suite, testId }, orgId, asOf = null, plain = false }) {
  const href = addressOf("test", { orgId }, { asOf, repoKey, suite, testId });
  return html`<a class=${plain ? "plain" : undefined} href=${href}><${LongName} name=${testId} /></a>`;
}

/** A test in a row whose name leads elsewhere. */
export function HistoryLink({ test: { repoKey, suite, testId }, orgId }) {
  return html`<a class="plain history" href=${addressOf("test", { orgId }, { repoKey, suite, testId })}
    title=${`What ${testId} did over time`}>history</a>`;
}

/** A box by its name. `plain`: not underlined, in a row with another link. */
export function BoxLink({ boxKey, orgId, asOf = null, plain = false }) {
  const href = addressOf("box", { orgId }, { asOf, boxKey });
  return html`<a class=${plain ? "plain" : undefined} href=${href}><${LongName} name=${boxKey} /></a>`;
}

/** Words that say what is so "on" a box, whose name is a link. */
export function OnBox({ words, boxKey, ...rest }) {
  const [before, ...after] = words.split(` on ${boxKey}`);
  return html`${before} on <${BoxLink} plain boxKey=${boxKey} ...${rest} />${after.join(` on ${boxKey}`)}`;
}
