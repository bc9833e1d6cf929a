// SPDX-License-Identifier: Apache-2.0
// The choice of a theme, kept in this browser; theme.js applies it, before and after.

import { html, useState } from "../../html.js";
import { keep, kept } from "../../kept.js";

const KEY = "hwci-theme"; // as in theme.js
const THEMES = [
  ["", "System theme"],
  ["light", "Light theme"],
  ["dark", "Dark theme"],
];

/** The choice between the system's theme, light and dark. */
export function ThemeChoice() {
  const [chosen, setChosen] = useState(() => kept("localStorage", KEY) ?? "");
  const choose = (event) => {
    keep("localStorage", KEY, event.target.value);
    const theme = kept("localStorage", KEY) ?? "";
    event.target.value = theme; // not the chosen one where nothing is kept
    window.dispatchEvent(new StorageEvent("storage", { key: KEY })); // other tabs get it from the browser
    setChosen(theme);
  };
  return html`<select aria-label="Theme" value=${chosen} onChange=${choose}>
    ${THEMES.map(([theme, title]) => html`<option key=${theme} value=${theme}>${title}</option>`)}
  </select>`;
}
