// SPDX-License-Identifier: Apache-2.0
// What a reader has written about a cause and not sent yet. It stays in this tab until it is sent, so that neither a
// server that does not answer nor a sign-in that ended loses it; another person who signs in here does not see it.

import { useState } from "../../html.js";
import { keep, kept } from "../../kept.js";

const KEPT = "hwci-review";

/** Return `{read(key), write(key, words), of(key), clear(key)}`; `of`: what is sent of it. */
export function useDraft(me) {
  const [all, setAll] = useState(() => recalled(me));
  const put = (now) => {
    setAll(now);
    keep("sessionStorage", KEPT, Object.keys(now).length ? JSON.stringify([me.user.id, now]) : null);
  };
  const read = (key) => all[key] ?? {};
  return {
    read,
    write: (key, words) => put({ ...all, [key]: { ...read(key), ...words } }),
    clear: (key) => put(Object.fromEntries(Object.entries(all).filter(([one]) => one !== key))),
    of: (key) => Object.fromEntries(Object.entries(read(key)).map(([name, text]) => [name, text.trim()]).filter(([, text]) => text)),
  };
}

function recalled(me) {
  try {
    const [whose, written] = JSON.parse(kept("sessionStorage", KEPT) ?? "[]");
    return whose === me.user.id ? written : {};
  } catch {
    return {}; // damaged
  }
}
