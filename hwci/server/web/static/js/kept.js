// SPDX-License-Identifier: Apache-2.0
// What this browser, or this tab, stores for the pages. A browser that stores nothing is fine.

/**
 * Return what is kept, or null.
 * @param {"localStorage" | "sessionStorage"} place the latter for this tab alone
 */
export function kept(place, key) {
  try {
    return window[place].getItem(key);
  } catch {
    return null;
  }
}

/**
 * Keep a text if the browser allows it; forget it if null or empty.
 * @param {"localStorage" | "sessionStorage"} place
 */
export function keep(place, key, value) {
  try {
    if (value) window[place].setItem(key, value);
    else window[place].removeItem(key);
  } catch {
    // The pages work without it.
  }
}
