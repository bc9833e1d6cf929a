// SPDX-License-Identifier: Apache-2.0
// Adding a box, and its install token, which is kept only in the memory of this page.

import { post } from "../../api.js";
import { html, useEffect, useRef, useState } from "../../html.js";
import { Copyable } from "../../parts/form/copyable.js";
import { FormFault, useSending } from "../../parts/form/sending.js";

const NEW = "new box";
const TAKEN = "A box with this name exists. Make a new install token for it in the list below.";

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

/** The form that adds a box. `field`: a reference to where its name is typed; `draft`: of the page. */
export function AddBox({ tokens, field, draft }) {
  const { busy, fault, send } = useSending();
  const { name = "" } = draft.read(NEW);
  const add = async () => {
    await tokens.create(name.trim());
    draft.clear(NEW);
  };
  return html`<form class="add-box" onSubmit=${(event) => send(event, add)}>
    <label>New box <input ref=${field} required maxlength="255" autocomplete="off" placeholder="Name, as in its run reports"
      value=${name} onInput=${({ target }) => draft.write(NEW, { name: target.value })} /></label>
    <button class="main" aria-disabled=${busy ? "true" : undefined}>Add box</button>
    <${FormFault} fault=${fault} taken=${TAKEN} />
  </form>`;
}

/** A token that was just made, and what to do with it on the box. */
export function InstallToken({ made, done }) {
  const title = useRef(null);
  useEffect(() => title.current.focus(), []);
  return html`<section class="part token" aria-label="Install token">
    <h2 tabindex="-1" ref=${title}>Install token of ${made.name}</h2>
    <p>Shown only once. It works once. Expires in 24 h. The box’s present key works until the
      token is used.</p>
    <${Copyable} label="Install token" text=${made.installToken} />
    <p>On the box, install with it, then keep the box online:</p>
    <${Copyable} label="Command" text=${`hwci box install --url ${window.location.origin}`} />
    <${Copyable} label="Command that keeps it online" text="hwci box heartbeat" />
    <button type="button" onClick=${done}>Done</button>
  </section>`;
}
