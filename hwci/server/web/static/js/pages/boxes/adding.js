// SPDX-License-Identifier: Apache-2.0
// Adding a box, and its install token, which is kept only in the memory of this page.

import { post } from "../../api.js";
import { html, useEffect, useRef, useState } from "../../html.js";
import { Copyable } from "../../parts/form/copyable.js";
import { Time } from "../../parts/values/values.js";

/**
 * The install token that was made last: `{made, create(name), renew(boxId), forget()}`. `changed()`: the list
 * has changed.
 */
export function useInstallTokens(base, changed) {
  const [made, setMade] = useState(null);
  const make = async (path, body) => {
    setMade(await post(path, body));
    changed();
  };
  return {
    made,
    create: (name) => make(base, { name }),
    renew: (boxId) => make(`${base}/${boxId}/install-token`),
    forget: () => setMade(null),
  };
}

/** The form that adds a box. `field`: a reference to where its name is typed. */
export function AddBox({ tokens, field }) {
  const [fault, setFault] = useState(null);
  const [busy, setBusy] = useState(false);
  const add = async (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    if (busy) return;
    setBusy(true);
    setFault(null);
    try {
      await tokens.create(form.elements.name.value.trim());
      form.reset();
    } catch (refused) {
      setFault(refused);
    }
    setBusy(false);
  };
  return html`<form class="add-box" onSubmit=${add}>
    <label>New box <input name="name" ref=${field} required maxlength="255" autocomplete="off"
      placeholder="Name, as in its run reports" /></label>
    <button class="main" aria-disabled=${busy ? "true" : undefined}>Add box</button>
    ${fault && html`<p class="fault" role="alert">${faultText(fault)}</p>`}
  </form>`;
}

const TAKEN = "A box with this name exists. Make a new install token for it in the list below.";

function faultText({ status, message, issues }) {
  if (status === 409) return TAKEN;
  return issues?.length ? issues.map((issue) => issue.message).join("; ") : message;
}

/** A token that was just made, and what to do with it on the box. */
export function InstallToken({ made, done }) {
  const title = useRef(null);
  useEffect(() => title.current.focus(), []);
  return html`<section class="part token" aria-label="Install token">
    <h2 tabindex="-1" ref=${title}>Install token of ${made.name}</h2>
    <p>Shown only once. It works once and expires <${Time} at=${made.expiresAt} />. The box’s present key works until the
      token is used.</p>
    <${Copyable} label="Install token" text=${made.installToken} />
    <p>On the box, install with it, then keep the box online:</p>
    <${Copyable} label="Command" text=${`hwci box install --url ${window.location.origin}`} />
    <${Copyable} label="Command that keeps it online" text="hwci box heartbeat" />
    <button type="button" onClick=${done}>Done</button>
  </section>`;
}
