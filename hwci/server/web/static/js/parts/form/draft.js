// SPDX-License-Identifier: Apache-2.0
// What a reader has typed into the forms of a page and not sent yet. It stays in this tab until it is sent, so that neither
// a server that does not answer nor a sign-in that ended loses it; another person who signs in here does not see it.

import { useEffect, useState } from "../../html.js";
import { keep, kept } from "../../kept.js";

const KEPT = "hwci-draft";

/**
 * Return `{read(key), write(key, words), of(key), clear(key), giveBack(key, words)}`, one for all forms of a page; `of`: what
 * is sent of it; `giveBack`: what was sent is to be sent anew, but for what was typed since. `me`: the reader, null until it
 * is known.
 */
export function useDraft(me) {
  const [all, setAll] = useState(() => recalled(me));
  useEffect(() => setAll(recalled(me)), [me?.user.id]);
  const put = (change) =>
    setAll((was) => {
      const now = change(was);
      keep("sessionStorage", KEPT, Object.keys(now).length ? JSON.stringify([me.user.id, now]) : null);
      return now;
    });
  const read = (key) => all[key] ?? {};
  const filled = (words = {}) =>
    Object.fromEntries(Object.entries(words).map(([name, text]) => [name, text.trim()]).filter(([, text]) => text));
  return {
    read,
    write: (key, words) => put((was) => ({ ...was, [key]: { ...was[key], ...words } })),
    clear: (key) => put(({ [key]: _, ...others }) => others),
    giveBack: (key, words) => put((was) => ({ ...was, [key]: { ...words, ...filled(was[key]) } })),
    of: (key) => filled(read(key)),
  };
}

function recalled(me) {
  try {
    const [whose, written] = JSON.parse(kept("sessionStorage", KEPT) ?? "[]");
    return me && whose === me.user.id ? written : {};
  } catch {
    return {}; // damaged
  }
}
