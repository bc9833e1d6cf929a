// SPDX-License-Identifier: Apache-2.0
// Values as people read them: golden cases, the edges between two wordings, and values that no answer should have.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  ago, chanceText, count, counted, dayName, dayOrPart, duration, moment, percent, periodName, productName, range, rangeOf, sentence,
  short, shortened, signed, timeOfDay,
} from "../../hwci/server/web/static/js/format.js";

const NOW = Date.parse("2026-05-28T12:00:00Z");
const [MINUTE, HOUR, DAY] = [60, 3600, 86_400]; // seconds

function at(seconds) {
  return new Date(NOW + 1000 * seconds).toISOString();
}

for (const [seconds, words] of [
  [0, "just now"],
  [-59, "just now"],
  [59, "just now"],
  [-MINUTE, "1 minute ago"],
  [-(2 * MINUTE - 1), "1 minute ago"],
  [-630, "10 minutes ago"],
  [-(2 * HOUR - 1), "119 minutes ago"],
  [-2 * HOUR, "2 hours ago"],
  [-(2 * DAY - 1), "47 hours ago"],
  [-2 * DAY, "2 days ago"],
  [-13 * DAY, "13 days ago"],
  [-14 * DAY, "2 weeks ago"],
  [-59 * DAY, "8 weeks ago"],
  [-60 * DAY, "2 months ago"],
  [-729 * DAY, "24 months ago"],
  [-730 * DAY, "2 years ago"],
  [DAY - MINUTE, "in 24 hours"],
  [2 * DAY, "in 2 days"],
]) {
  test(`${seconds} s from now is "${words}"`, () => assert.equal(ago(at(seconds), NOW), words));
}

for (const [seconds, words, exact] of [
  [0, "0 s"],
  [-3, "0 s"],
  [59.4, "59 s"],
  [59.6, "1 min"],
  [60, "1 min"],
  [428, "7 min 8 s"],
  [3600, "1 h"],
  [3599.6, "1 h"],
  [7500, "2 h 5 min"],
  [7230, "2 h"], // seconds beside hours would be too exact
  [360_000, "100 h"],
  [12, "12.0 s", true],
  [0.04, "0.0 s", true],
  [59.96, "1 min", true],
]) {
  test(`${words} are ${seconds} s`, () => assert.equal(duration(seconds, exact), words));
}

for (const [chance, words] of [
  [0, "0 %"],
  [0.001, "under 1 %"],
  [0.005, "1 %"],
  [0.5, "50 %"],
  [0.994, "99 %"],
  [0.996, "over 99 %"],
  [1, "100 %"],
]) {
  test(`a chance of ${chance} is "${words}"`, () => assert.equal(chanceText(chance), words));
}

test("numbers have their thousands apart", () => {
  assert.equal(count(9_000_000), "9,000,000");
  assert.equal(counted(1, "merge"), "1 merge");
  assert.equal(counted(0, "merge"), "0 merges");
  assert.equal(counted(1200, "box", "boxes"), "1,200 boxes");
  assert.deepEqual([3, -3, 0, -1200].map(signed), ["+3", "−3", "+0", "−1,200"]);
});

test("percentages have one digit, as the command line writes them", () => {
  assert.deepEqual([0, 12.5, 99.96, 100].map(percent), ["0.0 %", "12.5 %", "100.0 %", "100.0 %"]);
  assert.equal(range(89.2, 93.9), "89.2 to 93.9 %");
  assert.equal(range(0, 100), "0.0 to 100.0 %");
  assert.equal(range(null, null), "not enough data");
  assert.equal(rangeOf({ low: 0.892, high: 0.939 }), "89.2 to 93.9 %");
  assert.equal(rangeOf({ low: 0, high: 0.005 }), "0.0 to 0.5 %");
  assert.equal(rangeOf({ low: null, high: null }), "not enough data");
});

test("a calendar day is the one of the API in every zone", () => {
  const day = { firstDay: "2026-10-24", lastDay: "2026-10-24" };
  assert.equal(dayName(day), "24 Oct");
  assert.match(dayName({ firstDay: "2026-10-24", lastDay: "2026-10-27" }), /^24\s*–\s*27 Oct$/);
  assert.match(dayName({ firstDay: "2026-12-31", lastDay: "2027-01-01" }), /^31 Dec( 2026)?\s*–\s*1 Jan( 2027)?$/);
  assert.equal(dayOrPart({ ...day, whole: true }), "24 Oct");
  assert.equal(dayOrPart({ ...day, whole: false }), "24 Oct (part)");
});

test("times name their zone", () => {
  const time = "2026-05-28T12:00:09Z";
  assert.match(moment(time), /^28 May 2026, \d\d:\d\d:09 \S+/);
  assert.match(timeOfDay(Date.parse(time)), /^\d\d:\d\d:09 \S+/);
  assert.match(periodName({ from: "2026-04-28T12:00:00Z", to: time }), /^28 Apr\w* ?–? ?\s*–?\s*28 May 2026$/);
});

test("words and names", () => {
  assert.equal(sentence("undone."), "Undone.");
  assert.equal(short("0123456789abcdef0123"), "0123456789ab");
  assert.equal(short("01"), "01");
  assert.equal(shortened("abc", 3), "abc");
  assert.equal(shortened("abcd", 3), "abc…");
  assert.equal(productName({ repoKey: "acme/fw", suite: "s" }), "acme/fw · s");
  assert.equal(productName({ repoKey: "acme/fw", suite: "s" }, false), "s");
});

for (const write of [moment, (time) => ago(time, NOW), (time) => dayName({ firstDay: time, lastDay: time })]) {
  test(`a time that is none is an error, not a wrong date: ${write.name || write}`, () => {
    assert.throws(() => write("2026-13-45"), RangeError);
  });
}
