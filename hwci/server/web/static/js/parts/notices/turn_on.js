// SPDX-License-Identifier: Apache-2.0
// The first step of an organization: the operator of the server turns CI Metrics on. What comes after it
// is on the metrics page (`pages/metrics/first_steps.js`).

import { html } from "../../html.js";

/** What to do, and who does it. */
export function TurnOn({ orgId }) {
  return html`<section class="part first-steps">
    <h2>First step: turn CI Metrics on</h2>
    <p>CI Metrics is off for this organization. The operator of the server turns it on in a
      terminal, in the folder of <code>hwci serve</code>, with effect at once:</p>
    <p><code>hwci admin ci-metrics enable ${orgId}</code></p>
    <p class="quiet">If <code>hwci serve</code> was started with <code>--database</code>, add the same here.</p>
    <p>Done? <button type="button" onClick=${() => window.location.reload()}>Refresh</button></p>
  </section>`;
}
