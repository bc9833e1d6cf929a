// SPDX-License-Identifier: Apache-2.0
// What an organization sees before its first report: how figures come here. What a page does, it leads to;
// keys for CI no page makes (spec, "CI key management").

import { addressOf } from "../../address.js";
import { html } from "../../html.js";
import { Copyable } from "../../parts/copyable.js";
import { isAdmin } from "../../parts/roles.js";

const { origin } = window.location;
const KEY = `hwci login --url ${origin}
hwci keys create "CI" --org `;
const ANNOUNCE = step("Announce the merge", "pipx run hwci merge-announce");
const REPORT = step("Test on the board, and report", "pipx run hwci exec --junit out.xml -- pytest --junit-xml out.xml");

/** How to begin. */
export function FirstSteps({ orgId, organization }) {
  const boxes = html`<a href=${addressOf("boxes", { orgId })}>Boxes</a>`;
  return html`<section class="part first-steps">
    <h2>No report has come yet</h2>
    <ol>
      <li>${isAdmin(organization) ? "Add" : "An owner or admin adds"} each bench under ${boxes}: it gets an install token
        there, and one sees whether it is online. Reports of benches that are not there count all the same.</li>
      <li>An owner or admin makes a key for CI, on the command line, and keeps it as the secret <code>HWCI_CI_KEY</code> of
        the CI:
        <${Copyable} label="Commands that make a key" text=${KEY + orgId} /></li>
      <li>A job that needs no hardware announces each merge. As a step of GitHub Actions, after the checkout:
        <${Copyable} label="Step that announces" text=${ANNOUNCE} /></li>
      <li>The job at the bench runs its tests and reports them. As a step, with your own command after <code>--</code>:
        <${Copyable} label="Step that reports" text=${REPORT} /></li>
      <li>Which files are firmware and which are harness stands in the repository's <code>hwci.toml</code>; without it no
        failure counts as a firmware bug: <code>hwci suite-config apply hwci.toml</code></li>
      <li>Whether reports will arrive from a machine, it says itself: <code>hwci doctor</code></li>
    </ol>
    <p class="quiet">Other CI systems run the same commands, with the same two variables. A page with ninety days of history
      shows <code>hwci demo</code>.</p>
  </section>`;
}

function step(name, command) {
  return `- name: ${name}
  env:
    HWCI_URL: ${origin}
    HWCI_CI_KEY: \${{ secrets.HWCI_CI_KEY }}
    GITHUB_TOKEN: \${{ github.token }}
  run: ${command}`;
}
