// SPDX-License-Identifier: Apache-2.0
// The first step of an organization: the operator of the server turns CI Metrics on. What comes after it
// stands on the metrics page (`pages/metrics/first_steps.js`).

import { html } from "../html.js";

/** What to do, and for whom it is. */
export function TurnOn({ orgId }) {
  return html`<section class="part first-steps">
    <h2>First step: turn CI Metrics on</h2>
    <p>CI Metrics is off for this organization. Whoever operates the server turns it on there, in a terminal; it counts at once:</p>
    <p><code>hwci admin ci-metrics enable ${orgId}</code></p>
    <p class="quiet">Where the server has another database than the default, the command has to name it as
      ${" "}<code>hwci serve</code> does: with <code>--database FILE</code>.</p>
    <button type="button" onClick=${() => window.location.reload()}>Look again</button>
  </section>`;
}
