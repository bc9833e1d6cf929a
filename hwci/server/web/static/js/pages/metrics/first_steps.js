// SPDX-License-Identifier: Apache-2.0
// What an organization sees before its first report: how figures come here.

import { html } from "../../html.js";

/** How to begin. */
export function FirstSteps({ orgId }) {
  return html`<section class="part first-steps">
    <h2>No report has come yet</h2>
    <ol>
      <li>An owner or admin signs in on the command line, <code>hwci login --url ${window.location.origin}</code>,
        and makes a key for CI: <code>hwci keys create "CI" --org ${orgId}</code></li>
      <li>CI gets it as <code>HWCI_CI_KEY</code>, and <code>HWCI_URL</code> with the value <code>${window.location.origin}</code>.</li>
      <li>A job that needs no hardware announces each merge: <code>hwci merge-announce</code></li>
      <li>The job at the bench runs its tests and reports them: <code>hwci exec --junit out.xml -- pytest --junit-xml out.xml</code></li>
      <li>Which files are firmware and which are harness stands in the repository's <code>hwci.toml</code>; without it no
        failure counts as a firmware bug: <code>hwci suite-config apply hwci.toml</code></li>
      <li>Whether reports will arrive from a machine, it says itself: <code>hwci doctor</code></li>
    </ol>
    <p class="quiet">A page with ninety days of history shows <code>hwci demo</code>.</p>
  </section>`;
}
