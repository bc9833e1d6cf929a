// SPDX-License-Identifier: Apache-2.0
// What the label of a failure is called (semantics, 4.3). The API decides which one it has.

import { html } from "../../html.js";
import { Badge } from "./values.js";

/** The labels as the API names them: the colour, the word, and what it means. */
export const LABELS = {
  flake: ["warn", "Flake", "The test also passed on the same commit and box"],
  resolved: ["good", "Resolved", "The test passed on a later commit, on the same box"],
  pending: ["quiet", "Pending", "The test has not passed since, on the same box"],
};

/** A label as a badge. */
export function labelBadge(value) {
  const [kind, text, meaning] = LABELS[value];
  return html`<${Badge} kind=${kind} title=${meaning}>${text}<//>`;
}
