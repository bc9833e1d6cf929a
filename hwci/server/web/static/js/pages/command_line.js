// SPDX-License-Identifier: Apache-2.0
// Whether a command line that waits on this machine gets the sign-in of this browser (contract, "Auth"). Anybody may
// have prepared the link that led here, and written the name of the machine: the person compares, and answers.

import { getOpenly, postOpenly } from "../api.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { Waiting } from "../parts/notices/notice.js";

const PATH = "/api/auth/sso/command-line";

/** The page. Its first focus is its title: no key that is already pressed may answer. */
export function CommandLine() {
  const [waiting, setWaiting] = useState(null);
  const [fault, setFault] = useState(null);
  const [busy, setBusy] = useState(false);
  const title = useRef(null);
  useEffect(() => {
    getOpenly(PATH).then(setWaiting, setFault);
  }, []);
  useEffect(() => title.current?.focus(), [waiting === null && fault === null]);
  const answer = async (accepted) => {
    if (busy) return;
    setBusy(true);
    setFault(null);
    try {
      const { url } = await postOpenly(PATH, { challenge: waiting.challenge, accepted });
      window.location.replace(url);
    } catch (refused) {
      setFault(refused);
      setBusy(false);
    }
  };
  if (waiting === null && fault === null) return html`<main class="standalone"><${Waiting} /></main>`;
  return html`<main class="standalone">
    <h1 tabindex="-1" ref=${title}>Sign in to the command line</h1>
    ${fault && html`<p class="failed" role="alert">${fault.message}</p>`}
    ${waiting && html`<${Question} ...${{ ...waiting, answer, busy }} />`}
  </main>`;
}

function Question({ machine, port, code, email, answer, busy }) {
  const disabled = busy ? "true" : undefined;
  return html`<div class="question">
    <p>hwci on <bdi>${machine}</bdi> wants to sign in as <bdi>${email}</bdi>, at port ${port} of this computer.</p>
    <p>Did you start <code>hwci login</code> yourself just now, and does its terminal show this code and port?</p>
    <p class="compared">${code}</p>
    <button type="button" class="main" aria-disabled=${disabled} onClick=${() => answer(true)}>Yes, sign in</button>
    <button type="button" aria-disabled=${disabled} onClick=${() => answer(false)}>No</button>
    <p class="quiet">If somebody sent you the link that led here, say no: yes would let them act as you.</p>
  </div>`;
}
