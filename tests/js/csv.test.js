// SPDX-License-Identifier: Apache-2.0
// Rows as a CSV file, which a spreadsheet opens: no cell is a formula, and none breaks out of its place.

import assert from "node:assert/strict";
import { test } from "node:test";

import { csvOf } from "../../hwci/server/web/static/js/parts/table/csv_text.js";

test("each field is a column, those of an object by their path", () => {
  const rows = [{ id: 1, first: { sha: "a", at: { day: 2 } }, on: true }, { id: 2, later: null }];
  assert.equal(csvOf(rows, []), "id,first.sha,first.at.day,on,later\r\n1,a,2,true,\r\n2,,,,\r\n");
});

test("an object that some rows lack has no column of its own", () => {
  assert.equal(csvOf([{ first: null }, { first: { sha: "a" } }], []), "first.sha\r\n\r\na\r\n");
});

test("fields of a hidden column are left out, and those of a like name are not", () => {
  const rows = [{ box: "b", boxes: 2, first: { sha: "a", at: 1 } }];
  assert.equal(csvOf(rows, ["box", "first.at"]), "boxes,first.sha\r\n2,a\r\n");
  assert.equal(csvOf(rows, ["first"]), "box,boxes\r\nb,2\r\n");
});

test("no rows are an empty line", () => assert.equal(csvOf([], []), "\r\n"));

for (const [value, written] of [
  ["plain", "plain"],
  ["a,b", '"a,b"'],
  ["a;b", '"a;b"'],
  ['say "hi"', '"say ""hi"""'],
  ["=1+1", "'=1+1"],
  [" \t=1", " \\u{9}=1"],
  [" =1", "' =1"],
  ["+49", "'+49"],
  ["-1", "'-1"],
  ["@SUM", "'@SUM"],
  ["＝1", "'＝1"],
  ["﹢1", "'﹢1"],
  ["a;=1", '"a;\'=1"'],
  ["a=1", "a=1"],
  ["two\r\nlines", "two\\u{d}\\u{a}lines"],
  ["\u202eevil", "\\u{202e}evil"],
  ["\0", "\\u{0}"],
  ["\ud800", "\\u{d800}"],
  [-1, "-1"],
  [0, "0"],
  [false, "false"],
  [["a", 1], '"[""a"",1]"'],
  [[], "[]"],
  [null, ""],
  [undefined, ""],
]) {
  test(`${JSON.stringify(value)} is written ${written}`, () => {
    assert.equal(csvOf([{ cell: value }], []), `cell\r\n${written}\r\n`);
  });
}
