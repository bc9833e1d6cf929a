// SPDX-License-Identifier: Apache-2.0
// What this browser keeps for the pages, or this tab of it. One may keep nothing: then nothing is found.

/** Give what is kept; null: nothing is. `place`: "localStorage", or "sessionStorage" for this tab alone. */
export function kept(place, key) {
  try {
    return window[place].getItem(key);
  } catch {
    return null;
  }
}

/** Keep it, where the browser does; null or an empty text: forget it. */
export function keep(place, key, value) {
  try {
    if (value) window[place].setItem(key, value);
    else window[place].removeItem(key);
  } catch {
    // The pages work without.
  }
}
