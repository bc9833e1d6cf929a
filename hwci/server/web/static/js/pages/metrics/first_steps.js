// SPDX-License-Identifier: Apache-2.0
// What an organization sees before its first report: the commands that bring the first merge and the first
// report here from a desk, in order, then what makes CI do the same. It links to pages for what pages can do;
// no page makes CI keys (spec, "CI key management").

import { addressOf } from "../../address.js";
import { useAnswer } from "../../asking.js";
import { html } from "../../html.js";
import { Copyable } from "../../parts/form/copyable.js";
import { isAdmin } from "../../parts/frame/roles.js";

const { origin } = window.location;
const TESTS = "--junit .hwci/out.xml -- pytest --junit-xml .hwci/out.xml";
const JOB = "mkdir -p .github/workflows\nhwci init --ci github > .github/workflows/hil.yml";
const NOW = 'hwci merge-announce --merged-at "$(date -u +%Y-%m-%dT%H:%M:%SZ)"';

/** How to begin. */
export function FirstSteps({ orgId, organization }) {
  const { data: wheel } = useAnswer("/api/wheel");
  const source = wheel && `"${origin}${wheel.path}#sha256=${wheel.sha256}"`;
  return html`
    <section class="part first-steps">
      <h2>No report has arrived yet</h2>
      <p>The first one comes from a desk: in a checkout of the firmware, on a machine that reaches the board and has${" "}
        <code>hwci</code>, in a virtual environment or by pipx. This server has it, and pip checks its hash:</p>
      ${source && html`<${Copyable} label="Command that installs hwci" text=${`pip install ${source}`} />`}
      <ol>
        <li>Sign in, and make a key for CI. ${!isAdmin(organization) && "Only an owner or admin can; ask one for a key. "}Shown only
          once: the last line prints it. Keep it as the secret <code>HWCI_CI_KEY</code> of the CI.
          <${Copyable} label="Commands that make a key" text=${keyOf(orgId)} /></li>
        <li>Write <code>hwci.toml</code>, which names the product and guesses its files, and read it:
          <${Copyable} label="Command that writes hwci.toml" text="hwci init" /></li>
        <li>Announce the checked-out commit, as if it had just been merged:
          <${Copyable} label="Command that announces" text=${NOW} /></li>
        <li>Run the tests and report them, with your own command after <code>--</code> and the name of the bench:
          <${Copyable} label="Command that reports" text=${`hwci exec --box bench-1 ${TESTS}`} /></li>
        <li>One merge is checked on hardware now. Done?${" "}
          <button type="button" onClick=${() => window.location.reload()}>Refresh</button></li>
      </ol>
    </section>
    <${FromThenOn} orgId=${orgId} organization=${organization} systems=${wheel ? wheel.ciSystems : []} />
  `;
}

/** What comes after the first report. `systems`: CI systems that there is a job for. */
function FromThenOn({ orgId, organization, systems }) {
  const others = systems.filter((name) => name !== "github");
  const boxes = html`<a href=${addressOf("boxes", { orgId })}>Boxes</a>`;
  return html`<section class="part first-steps">
    <h2>From then on, CI does it</h2>
    <p>This page ends with the first report; the first command prints what belongs here at any time.</p>
    <ul>
      <li>A job announces each merge, and another one at the bench runs the tests and reports them. Of
        GitHub${others.length > 0 && ` (or ${others.join(", ")})`}, with the address of this server and the hash of its wheel:
        <${Copyable} label="Command that prints the job" text=${JOB} /></li>
      <li>Correct the firmware and the harness files in <code>hwci.toml</code>, then send them:${" "}
        <code>hwci suite-config apply</code>. A failure counts as a firmware bug if a <code>[[verdict]]</code> rule in
        that file blames the device and its fix changes firmware alone, or if a person confirms it.</li>
      <li>${isAdmin(organization) ? "Add" : "An owner or admin adds"} each bench under ${boxes}, to see whether it is online.
        Reports of other benches count all the same.</li>
    </ul>
    <p class="quiet"><code>hwci env</code> lists every variable that the commands read, such
      as <code>HWCI_REPO_KEY</code>. Run <code>hwci doctor</code> in a job to see why a report is not arriving.${" "}
      <code>hwci demo</code> shows ninety days of sample data.</p>
  </section>`;
}

function keyOf(orgId) {
  return [
    `export HWCI_URL=${origin}`,
    "hwci login",
    `export HWCI_CI_KEY=$(hwci keys create "CI" --org ${orgId})`,
    'echo "$HWCI_CI_KEY"',
  ].join("\n");
}
