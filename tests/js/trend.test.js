// SPDX-License-Identifier: Apache-2.0
// The shapes and words of a chart of days.

import assert from "node:assert/strict";
import { test } from "node:test";

import { HEIGHT, bands, bar, dayText, described, level, line, tall } from "../../hwci/server/web/static/js/parts/trend_shapes.js";

const STEP = 10;
const SURE = { part: 1, total: 2, low: 0.25, high: 0.75 };
const UNSURE = { part: 1, total: 1, low: null, high: null };

test("a share of 1 is on top, and one of 0 below it within the room of shares", () => {
  assert.deepEqual([1, 0.5, 0].map(level), [1, 15, 29]);
});

test("a bar is as tall as its count, of all but 0 tall enough to be seen", () => {
  assert.deepEqual([0, 1, 500, 1000].map((value) => tall(value, 1000, false)), [0, 3, 48, HEIGHT]);
  assert.deepEqual([0, 1, 500, 1000].map((value) => tall(value, 1000, true)), [0, 3, 25, 50]);
});

test("bars of a day stand upon each other with a gap, and never have less than no height", () => {
  assert.deepEqual(bar(2, STEP, 0, 40), { x: 20, y: 56, width: 9, height: 40 });
  assert.deepEqual(bar(2, STEP, 40, 90), { x: 20, y: 6, width: 9, height: 49 });
  assert.equal(bar(0, STEP, 3, 3).height, 0);
  assert.equal(bar(0, 1, 0, 5).width, 0.5); // ninety days on a phone
});

test("a line has a step a day, and a gap where a day has no share", () => {
  assert.equal(line([SURE, SURE, null, UNSURE], STEP), "M0 15h10L10 15h10M30 1h10");
  assert.equal(line([null, null], STEP), "");
  assert.equal(line([], STEP), "");
});

test("a band goes along the upper ends and back along the lower ones of neighbouring days", () => {
  assert.equal(bands([SURE, SURE], STEP), "M0 8V8h10V8h10V22h-10V22h-10z");
  assert.equal(bands([SURE, null, SURE], STEP), "M0 8V8h10V22h-10zM20 8V8h10V22h-10z");
  assert.equal(bands([UNSURE, SURE], STEP), "M10 8V8h10V22h-10z");
  assert.equal(bands([null, UNSURE], STEP), "");
  assert.equal(bands([], STEP), "");
});

test("a band of unlike days goes back in the reverse order", () => {
  const wide = { ...SURE, low: 0, high: 1 };
  assert.equal(bands([SURE, wide], STEP), "M0 8V8h10V1h10V29h-10V22h-10z");
});

const DAY = { firstDay: "2026-10-24", lastDay: "2026-10-24", whole: true, bugs: 3, runs: 1200 };

test("a day in words", () => {
  const [bugs, runs, none] = [(day) => day.bugs, (day) => day.runs, () => 0];
  assert.equal(dayText(DAY, bugs, none, null), "24 Oct: 3");
  assert.equal(dayText(DAY, bugs, runs, null), "24 Oct: 3 of 1,200");
  assert.equal(dayText(DAY, bugs, runs, () => SURE), "24 Oct: 3 of 1,200, 50.0 % (25.0 to 75.0 %)");
  assert.equal(dayText(DAY, bugs, runs, () => UNSURE), "24 Oct: 3 of 1,200, 100.0 % (not enough data)");
  assert.equal(dayText({ ...DAY, whole: false }, bugs, none, () => null), "24 Oct (part): 3");
});

test("a chart in a sentence names the first of its highest days", () => {
  const days = [{ ...DAY, bugs: 1 }, DAY, { ...DAY, firstDay: "2026-10-25", lastDay: "2026-10-25" }];
  const of = (day) => day.bugs;
  assert.equal(described("Bugs", days, of, 7), "Bugs: 7 in all, at most 3 on 24 Oct");
  assert.equal(described("Bugs", [{ ...DAY, bugs: 0 }], of, 0), "Bugs: 0 in all");
  assert.equal(described("Bugs", [], of, 0), "Bugs: 0 in all");
});
