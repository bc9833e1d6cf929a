// SPDX-License-Identifier: Apache-2.0
// A view that is loaded when it is first shown, so that no page waits for the others. The document
// names the modules of the page that it was asked for, which are on their way before this asks.

import { givesDocument } from "../api.js";
import { useAsked } from "../asking.js";
import { html } from "../html.js";
import { keep, kept } from "../kept.js";
import { ApiError, patience, within } from "../refusal.js";
import { Failed, Waiting } from "./notices/notice.js";

const AWAY = "This page did not load: the server did not answer, or was upgraded";
const RELOADED = "hwci-reloaded-"; // and the name of a view, which did not load before the document was loaded anew

/** Make a view of what a module exports under a name. Its `load()` loads it before it is shown. */
export function later(ask, name) {
  let view = null;
  let failed = false;
  const load = async () => {
    try {
      view = (await within(patience(), ask()))[name];
      keep("sessionStorage", RELOADED + name, null);
    } catch {
      if (failed) await reload(name);
      failed = true;
      throw new ApiError(0, AWAY, null);
    }
  };
  function Later(props) {
    const { error } = useAsked(view ? null : name, {}, 0, load);
    if (view) return html`<${view} ...${props} />`;
    return error ? html`<${Failed} error=${error} again=${() => window.location.reload()} />` : html`<${Waiting} />`;
  }
  return Object.assign(Later, { load });
}

/**
 * Load the document anew if the server answers: some browsers remember what did not load, and a newer server has other files.
 * Not while somebody types; and once, as it helps nobody whose browser gets the document and not the module.
 */
async function reload(name) {
  if (document.activeElement?.matches("input, textarea, select")) return;
  if (!(await givesDocument())) return;
  if (kept("sessionStorage", RELOADED + name)) throw new Error(AWAY);
  keep("sessionStorage", RELOADED + name, "yes");
  window.location.reload();
  await new Promise(() => {}); // this page ends
}
