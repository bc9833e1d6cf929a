// SPDX-License-Identifier: Apache-2.0
// Reviews of failures: which of them fit, what each takes, and how it is told.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  changedBy, commonReview, fittingActions, reviewedAs, stepsBackTo, stepsOf, told, withNote,
} from "../../hwci/server/web/static/js/parts/reviews/review.js";

function failure(shown, review = null, id = "f1") {
  return { id, testId: "join", boxKey: "bench-01", class: shown, review, status: "Ada", label: "resolved" };
}

function reviewed(action, by = "ada", at = "2026-05-28T12:00:00Z", id = "f1") {
  return failure(action === "confirm" ? "real_fw_bug" : "dismissed", { action, by: { id: by }, at, note: null }, id);
}

const [REAL, AMBIGUOUS, BENCH] = ["real_fw_bug", "ambiguous", "bench_or_harness"].map((shown) => failure(shown));

test("the specification's table of what fits, and what it takes", () => {
  const fits = (now) => fittingActions([now]).map(({ name }) => name);
  assert.deepEqual(fits(REAL), ["dismiss"]);
  assert.deepEqual(fits(AMBIGUOUS), ["confirm", "dismiss"]);
  assert.deepEqual(fits(BENCH), ["confirm"]);
  assert.deepEqual(fits(reviewed("confirm")), ["dismiss", "reset"]);
  assert.deepEqual(fits(reviewed("dismiss")), ["confirm", "reset"]);
  assert.deepEqual(fittingActions([]), []);
  assert.deepEqual(stepsOf("dismiss", AMBIGUOUS), ["confirm", "dismiss"]);
  assert.deepEqual(stepsOf("dismiss", REAL), ["dismiss"]);
  assert.deepEqual(stepsOf("dismiss", BENCH), []);
  assert.deepEqual(stepsOf("confirm", REAL), []);
  assert.deepEqual(stepsOf("reset", REAL), []);
});

test("an action of no name is an error", () => assert.throws(() => stepsOf("delete", REAL), TypeError));

test("undoing gives the review before back, by the steps that its class needs", () => {
  assert.deepEqual(stepsBackTo(null, reviewed("confirm")), ["reset"]);
  assert.deepEqual(stepsBackTo({ action: "confirm" }, reviewed("dismiss")), ["confirm"]);
  assert.deepEqual(stepsBackTo({ action: "confirm" }, reviewed("confirm")), ["dismiss", "confirm"]);
  assert.deepEqual(stepsBackTo({ action: "dismiss" }, reviewed("dismiss")), ["confirm", "dismiss"]);
});

test("the common review is that of most, and of two the earlier one", () => {
  const early = reviewed("confirm", "ada", "2026-05-01T00:00:00Z", "f1");
  const late = reviewed("dismiss", "bob", "2026-05-02T00:00:00Z", "f2");
  const later = reviewed("dismiss", "bob", "2026-05-03T00:00:00Z", "f3");
  assert.deepEqual(commonReview([late, early, REAL]), { held: [early], others: [late] });
  assert.deepEqual(commonReview([early, late, later]), { held: [late, later], others: [early] });
  assert.deepEqual(commonReview([REAL]), { held: [], others: [] });
  assert.deepEqual(commonReview([]), { held: [], others: [] });
  assert.deepEqual(changedBy("reset", [early, late, later]), [late, later]);
  assert.deepEqual(changedBy("confirm", [early, REAL, BENCH]), [BENCH]);
});

test("what was done in words", () => {
  const noted = { ...reviewed("confirm"), review: { ...reviewed("confirm").review, note: "x".repeat(80) } };
  assert.equal(told("confirm", [reviewed("confirm")], []), "confirmed as a real firmware bug.");
  assert.equal(told("dismiss", [reviewed("dismiss"), reviewed("dismiss")], []), "2 failures dismissed.");
  assert.equal(told("confirm", [noted], []), `confirmed as a real firmware bug with the note “${"x".repeat(60)}…”.`);
  assert.equal(told("undo", [REAL], []), "undone.");
  assert.equal(told("reset", [AMBIGUOUS], []), "the review is reset; it counts as ambiguous.");
  assert.equal(told("reset", [{ ...AMBIGUOUS, label: "flake" }], []), "the review is reset; it is now a flake.");
  assert.equal(
    told("reset", [AMBIGUOUS, BENCH], [reviewed("confirm")]),
    "the review is reset for 2 failures. Another review stays: join on bench-01 (confirmed by Ada).",
  );
});

test("three failures are named, and the others counted", () => {
  const named = "join on bench-01 (dismissed by Ada)";
  assert.equal(reviewedAs(Array(3).fill(reviewed("dismiss"))), `${named}, ${named}, ${named}`);
  assert.equal(reviewedAs(Array(5).fill(reviewed("dismiss"))), `${named}, ${named}, ${named} and 2 more`);
});

test("a note is quoted if there is one", () => {
  assert.equal(withNote({ note: null }), "");
  assert.equal(withNote({ note: "" }), "");
  assert.equal(withNote({ note: "a b" }), " with the note “a b”");
  assert.equal(withNote({ note: "a b" }, 2), " with the note “a…”");
});
