// SPDX-License-Identifier: Apache-2.0
// What a cause is called: which tests failed, on how many boxes.

import { counted } from "../../format.js";

const NAMED = 2; // tests of a cause; a line that names more is not read at a glance

/** "boot on bench-1", or "boot, shell and 3 more tests on 2 boxes". */
export function causeName(cause) {
  const { failures, boxesTotal } = cause;
  return `${causeTests(cause)} on ${boxesTotal === 1 ? failures[0].boxKey : causeBoxes(cause)}`;
}

/** "boot, shell and 3 more tests". The name of one more test is as short as "1 more test". */
export function causeTests({ failures, testsTotal }) {
  const named = testsTotal === NAMED + 1 ? testsTotal : NAMED;
  const tests = [...new Set(failures.map(({ testId }) => testId))].sort().slice(0, named);
  const others = testsTotal - tests.length;
  return `${tests.join(", ")}${others > 0 ? ` and ${counted(others, "more test")}` : ""}`;
}

/** "2 boxes". */
export function causeBoxes({ boxesTotal }) {
  return counted(boxesTotal, "box", "boxes");
}
