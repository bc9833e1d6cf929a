// SPDX-License-Identifier: Apache-2.0
// What the label of a failure is called (semantics, 4.3), and the rule by which it is known (16). The API decides both.

import { html } from "../../html.js";
import { Outside } from "./outside.js";
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

/** The rule by which a failure is known, as a badge that leads to the ticket; null: it is not known. */
export function knownBadge(known) {
  if (!known) return null;
  const badge = html`<${Badge} kind="quiet" title=${known.says}>Known<//>`;
  return html` <${Outside} href=${known.ticket}>${badge}<//>`;
}
