// SPDX-License-Identifier: Apache-2.0
// A view that is loaded when it is first shown, so that no page waits for the others. The document
// names the modules of the page that it was asked for, which are on their way before this asks.

import { html, useEffect, useState } from "../html.js";
import { Failed, Waiting } from "./notices/notice.js";

// A newer server has other files: a reload of the document loads them.
const AWAY = new Error("This page did not load: the network is down, or the server was upgraded");

/** Make a view of what a module exports under a name. Its `load()` loads it before it is shown. */
export function later(ask, name) {
  let view = null;
  const load = async () => {
    view = (await ask())[name];
  };
  function Later(props) {
    const [state, setState] = useState("waiting");
    useEffect(() => {
      if (!view) load().then(() => setState("there"), () => setState("away"));
    }, []);
    if (view) return html`<${view} ...${props} />`;
    return state === "away" ? html`<${Failed} error=${AWAY} again=${() => window.location.reload()} />` : html`<${Waiting} />`;
  }
  return Object.assign(Later, { load });
}
