// SPDX-License-Identifier: Apache-2.0
// A page that updates without a reload: it follows a stream of runs while it is shown, and a small sign shows
// whether it is up to date.

import { follow } from "../../following.js";
import { html, useEffect, useRef, useState } from "../../html.js";

const SIGNS = {
  connecting: ["quiet", "Connecting…"],
  live: ["good", "Live"],
  cut: ["warn", "Reconnecting…"],
  ended: ["warn", "Not live"],
};

/** Follow a stream of the API; `on`: `{begun(), event(event)}`. Return what `Live` shows. */
export function useFollowing(path, on) {
  const [following, setFollowing] = useState({ state: "connecting", fault: undefined });
  const latest = useRef(on);
  latest.current = on;
  useEffect(
    () =>
      follow(path, {
        begun: () => latest.current.begun(),
        event: (event) => latest.current.event(event),
        state: (state, fault) => setFollowing({ state, fault }),
      }),
    [path],
  );
  return following;
}

/** The sign: live, or not, and why. */
export function Live({ following }) {
  const [kind, text] = SIGNS[following.state];
  const why = following.fault && `: ${following.fault.message}`;
  return html`<span class=${`live-sign badge badge-${kind}`} role="status">${text}${why}</span>`;
}
