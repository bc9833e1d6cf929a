// SPDX-License-Identifier: Apache-2.0
// What an address chooses, and what is taken out of it as it chooses nothing.

import assert from "node:assert/strict";
import { test } from "node:test";

import { chosen, mayBe } from "../../hwci/server/web/static/js/choices.js";

for (const [search, settled] of [
  ["", ""],
  ["?", "?"],
  ["?days=90", "?days=90"],
  ["?days=many", "?days=many"], // the API refuses it
  ["?times=exact", "?times=exact"],
  ["?times=Exact", ""],
  ["?times=exact&times=soon", ""],
  ["?zone=UTC", ""],
  ["?charts=open&charts.page=2", "?charts=open&charts.page=2"],
  ["?bugs.by=failure", "?bugs.by=failure"],
  ["?bugs.by=box&days=7", "?days=7"],
  ["?bugs.cause=1", "?bugs.cause=1&bugs.by=cause"],
  ["?bugs.cause=1&bugs.by=failure", "?bugs.cause=1&bugs.by=failure"],
  ["?other.by=cause&other.sort=since", "?other.by=failure&other.sort=since"],
  ["?flaky.cause=1", "?flaky.cause=1"], // a table without causes
  ["?constructor=1&__proto__=2&toString=3&x.constructor=4", "?constructor=1&__proto__=2&toString=3&x.constructor=4"],
]) {
  test(`"${search}" is "${settled}"`, () => {
    assert.equal(chosen(search), settled);
    assert.equal(chosen(settled), settled, "what is settled stays");
  });
}

test("a name that is no choice may have any value", () => {
  assert.equal(mayBe("days", "x"), true);
  assert.equal(mayBe("hasOwnProperty", "x"), true);
  assert.equal(mayBe("list", "reviewed"), true);
  assert.equal(mayBe("list", "all"), false);
  assert.equal(mayBe("any.rows", "all"), true);
  assert.equal(mayBe("any.rows", "some"), false);
});
