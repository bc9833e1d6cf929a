// SPDX-License-Identifier: Apache-2.0
// The reader's time zone, for what the API tells by calendar days.

import { useAnswer } from "../asking.js";
import { useEffect, useState } from "../html.js";

/** Ask the API, as `useAnswer`, by the reader's days. A zone that the server does not know is UTC. */
export function useOwnDays(path, query, turn = 0) {
  const [zone, setZone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone ?? "UTC");
  const answer = useAnswer(path, { ...query, zone }, turn);
  const isUnknown = answer.error?.issues?.some(({ path: [, name] }) => name === "zone") ?? false;
  useEffect(() => {
    if (isUnknown) setZone("UTC");
  }, [isUnknown]);
  return isUnknown ? { ...answer, error: null, loading: true } : answer;
}
