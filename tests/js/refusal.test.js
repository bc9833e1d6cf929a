// SPDX-License-Identifier: Apache-2.0
// The errors that pages get, of the answers that a server or a proxy before it may give.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ApiError, cutShort, refusal, within } from "../../hwci/server/web/static/js/refusal.js";

function answer(body, status = 429, headers = {}) {
  return new Response(body, { status, statusText: "Refused", headers });
}

test("a refusal of ours has its words, its faults of fields and its id", async () => {
  const issues = [{ path: "days", message: "too many" }];
  const fault = await refusal(answer(JSON.stringify({ message: "No", issues }), 400, { "x-request-id": "r1" }));
  assert.deepEqual([fault.status, fault.message, fault.issues, fault.requestId, fault.retryAfter], [400, "No", issues, "r1", null]);
});

for (const body of ["", "<html>", "[", "null", '"text"', "{}"]) {
  test(`a refusal of a proxy with ${JSON.stringify(body)} has the words of its status`, async () => {
    const fault = await refusal(answer(body, 502));
    assert.equal(fault.message, "Refused");
    assert.equal(fault.isPassing, true);
  });
}

test("a refusal without any words says so", async () => {
  assert.equal((await refusal(new Response("", { status: 503 }))).message, "The server gave no reason");
});

for (const [header, seconds] of [
  ["0", 0],
  ["30", 30],
  ["999999999", 86_400],
  ["1e9", null],
  ["-5", 0], // a date for some
  ["soon", null],
  ["", null],
  ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
  ["Fri, 31 Dec 9999 23:59:59 GMT", 86_400],
]) {
  test(`Retry-After "${header}" is ${seconds} s`, async () => {
    assert.equal((await refusal(answer("{}", 429, { "retry-after": header }))).retryAfter, seconds);
  });
}

test("what may succeed later is told from what may not", () => {
  const passing = (status) => new ApiError(status, "", null).isPassing;
  assert.deepEqual([0, 408, 425, 429, 500, 503].map(passing), Array(6).fill(true));
  assert.deepEqual([400, 401, 403, 404, 409, 422].map(passing), Array(6).fill(false));
});

test("a request that its page ended is no fault of the server", () => {
  const ended = new DOMException("", "AbortError");
  assert.equal(cutShort(ended), ended);
  assert.equal(cutShort(new TypeError("Failed to fetch")).status, 0);
});

test("waiting ends with its signal, before or after it began", async () => {
  const stop = new AbortController();
  const waits = within(stop.signal, new Promise(() => {}));
  stop.abort();
  await assert.rejects(waits, { name: "AbortError" });
  await assert.rejects(within(stop.signal, new Promise(() => {})), { name: "AbortError" });
  assert.equal(await within(new AbortController().signal, Promise.resolve(7)), 7);
});
