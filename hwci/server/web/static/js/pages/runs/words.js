// SPDX-License-Identifier: Apache-2.0
// How the state of a run is told: where it stands, how it ended, how long it took.

import { html, useEffect, useState } from "../../html.js";
import { Badge } from "../../parts/values.js";

const TICK_MILLISECONDS = 1_000;
const CONCLUSIONS = { success: "good", failure: "bad" };
const UNITS = [
  ["h", 3600],
  ["min", 60],
  ["s", 1],
];

/** Where a run stands, in one badge: `[kind, text, title]` of it. */
export function statusOf({ status, helloOk, conclusion }) {
  if (status === "running") return ["live", "running", "Its box tells of its tests as they go"];
  if (status === "lost") return ["warn", "lost", "Nothing was heard of it for ten minutes, and no report came"];
  if (!helloOk) return ["warn", "never reached the hardware", `Its hello failed; it concluded with ${conclusion}`];
  return [CONCLUSIONS[conclusion] ?? "quiet", conclusion, "Reported"];
}

/** The badge of a run's state. */
export function Status({ run }) {
  const [kind, text, title] = statusOf(run);
  return html`<${Badge} kind=${kind} title=${title}>${text}<//>`;
}

/** How long a run took, or takes by now. What a lost run took, nobody knows. */
export function Duration({ run: { startedAt, endedAt, status } }) {
  const now = useNow(status === "running");
  if (status === "lost") return html`<span class="none" title="It did not end">–</span>`;
  return spanText((endedAt ? new Date(endedAt) : now) - new Date(startedAt));
}

function useNow(isMoving) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isMoving) return undefined;
    const timer = window.setInterval(() => setNow(Date.now()), TICK_MILLISECONDS);
    return () => window.clearInterval(timer);
  }, [isMoving]);
  return now;
}

/** "2 h 5 min", "7 min 8 s", "12 s". */
export function spanText(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const first = UNITS.findIndex(([, size]) => seconds >= size);
  if (first === -1) return "0 s";
  const rest = seconds % UNITS[first][1];
  const parts = UNITS.slice(first, first + 2).map(([unit, size], i) => [Math.floor((i ? rest : seconds) / size), unit]);
  return parts.filter(([value], i) => value > 0 || i === 0).map(([value, unit]) => `${value} ${unit}`).join(" ");
}
