// SPDX-License-Identifier: Apache-2.0
// Work that events ask for, at a pace: tests end many times a second, and a server allows an address a
// hundred requests a minute.

import { useEffect, useMemo, useRef } from "../../html.js";

const PACE_MILLISECONDS = 3_000;

/**
 * Return a function that requests the work. It runs at once, then at most once in a while, and always after the
 * last request. It does not start while it `isBusy()`, as that would abort the work under way.
 */
export function usePaced(work, isBusy) {
  const latest = useRef(null);
  latest.current = { work, isBusy };
  const pace = useMemo(() => paced(latest), []);
  useEffect(() => pace.end, []);
  return pace.ask;
}

function paced(latest) {
  let timer = null;
  let wanted = false;
  const ask = () => {
    wanted = true;
    if (timer === null) due();
  };
  const due = () => {
    timer = wanted ? window.setTimeout(due, PACE_MILLISECONDS) : null;
    if (!wanted || latest.current.isBusy()) return;
    wanted = false;
    latest.current.work();
  };
  return { ask, end: () => window.clearTimeout(timer) };
}
