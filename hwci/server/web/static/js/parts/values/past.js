// SPDX-License-Identifier: Apache-2.0
// Links to the pages that tell what a test or a box did over time, in the period that was chosen on this page.

import { addressOf } from "../../address.js";
import { html } from "../../html.js";
import { periodHere } from "../frame/scope.js";
import { LongName } from "./values.js";

/** A test by its name. `plain`: not underlined. */
export function TestLink({ test, orgId, plain = false }) {
  const { testId } = test;
  return html`<a class=${plain ? "plain" : undefined} href=${addressOfTest(test, orgId)}><${LongName} name=${testId} /></a>`;
}

/** A test in a row whose name leads elsewhere. `days`: up to now, in place of the period of this page. */
export function HistoryLink({ test, orgId, days, words = "history" }) {
  const href = addressOfTest(test, orgId, days && { days });
  return html`<a class="plain history" href=${href} title=${`What ${test.testId} did over time`}>${words}</a>`;
}

/** A box by its name. `plain`: not underlined, in a row with another link. */
export function BoxLink({ boxKey, orgId, plain = false }) {
  const href = addressOf("box", { orgId }, { ...periodHere(), boxKey });
  return html`<a class=${plain ? "plain" : undefined} href=${href}><${LongName} name=${boxKey} /></a>`;
}

/** Words that say what is so "on" a box, whose name is a link. */
export function OnBox({ words, boxKey, ...rest }) {
  const [before, ...after] = words.split(` on ${boxKey}`);
  return html`${before} on <${BoxLink} plain boxKey=${boxKey} ...${rest} />${after.join(` on ${boxKey}`)}`;
}

function addressOfTest({ repoKey, suite, testId }, orgId, period = periodHere()) {
  return addressOf("test", { orgId }, { ...period, repoKey, suite, testId });
}
