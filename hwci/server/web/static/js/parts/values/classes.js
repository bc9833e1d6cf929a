// SPDX-License-Identifier: Apache-2.0
// The classes of failures, by the names that the API has for them and the words that people read.

import { CLASSES } from "../../words.js";

/** The classes of failures that are not real firmware bugs, as the API names them. */
export const OTHER_CLASSES = Object.keys(CLASSES).filter((name) => name !== "real_fw_bug");

/** The name of a class. */
export function className(value) {
  return CLASSES[value].name;
}

/** The name of a class within a sentence: "it counts as a real firmware bug". */
export function classText(value) {
  return CLASSES[value]?.text ?? value;
}
