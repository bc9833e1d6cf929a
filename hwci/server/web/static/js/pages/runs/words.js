// SPDX-License-Identifier: Apache-2.0
// The texts for the state of a run: its state, how it ended, how long it took.

import { duration } from "../../format.js";
import { html, useEffect, useState } from "../../html.js";
import { Badge } from "../../parts/values/values.js";

const TICK_MILLISECONDS = 1_000;
const KINDS = { passed: "good", failed: "bad" };
// A conclusion that tells no more than how the run ended.
const PLAIN = ["success", "failure", "passed", "failed"];

/** Where a run stands, in one badge: `[kind, text, title]` of it. */
function statusOf({ status, ending, conclusion }) {
  if (status === "running") return ["live", "running", "Its report has not arrived yet"];
  if (status === "lost") return ["warn", "lost", "Its box sent nothing for ten minutes, and no report arrived"];
  if (ending === "never-reached") {
    return ["warn", "never reached", `It never reached the hardware: its hello check failed; its conclusion is ${conclusion}`];
  }
  const text = PLAIN.includes(conclusion.toLowerCase()) ? ending : `${ending} (${conclusion})`;
  return [KINDS[ending], text, `Its conclusion is ${conclusion}`];
}

/** The badge of a run's state. */
export function Status({ run }) {
  const [kind, text, title] = statusOf(run);
  return html`<${Badge} kind=${kind} title=${title}>${text}<//>`;
}

/** How long a run took, or takes by now. A lost run has no duration. */
export function Duration({ run: { startedAt, endedAt, status } }) {
  const now = useNow(status === "running");
  if (status === "lost") return html`<span class="none" title="It has not ended">–</span>`;
  return duration(((endedAt ? Date.parse(endedAt) : now) - Date.parse(startedAt)) / 1000);
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
