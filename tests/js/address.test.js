// SPDX-License-Identifier: Apache-2.0
// Addresses with their queries, as a page reads and writes them, and whom they may lead to.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { addressOf, here, oursOnly } from "../../hwci/server/web/static/js/address.js";

const ORGANIZATION = "/orgs/o1";

beforeEach(() => visit("https://hwci.example/orgs/o1/metrics"));

/** The address bar, all that these functions know of a browser. */
function visit(address) {
  globalThis.window = /** @type {any} */ ({ location: new URL(address) });
}

test("what is shown is read from the address bar", () => {
  visit("https://hwci.example/orgs/o1/runs/7?attempt=2&x=%F0%9F%94%A7#end");
  const { query, ...shown } = here();
  assert.deepEqual(shown, { page: "run", params: { orgId: "o1", runId: "7" }, path: "/orgs/o1/runs/7?attempt=2&x=%F0%9F%94%A7" });
  assert.deepEqual([...query], [["attempt", "2"], ["x", "🔧"]]);
});

test("values of nothing are left out, and others are encoded", () => {
  const query = { days: 90, from: null, to: undefined, suite: "", search: "a&b=c#🔧", page: 0 };
  const written = addressOf("failures", { orgId: "o1" }, query);
  assert.equal(written, `${ORGANIZATION}/failures?days=90&search=a%26b%3Dc%23%F0%9F%94%A7&page=0`);
  assert.equal(addressOf("account"), "/account");
});

test("a parameter of every page goes along, unless the link has its own", () => {
  visit("https://hwci.example/orgs/o1/metrics?times=exact&days=90");
  assert.equal(addressOf("boxes", { orgId: "o1" }), `${ORGANIZATION}/boxes?times=exact`);
  assert.equal(addressOf("boxes", { orgId: "o1" }, { times: null }), `${ORGANIZATION}/boxes`);
});

for (const [address, path] of [
  ["/orgs/o1/box?boxKey=b#now", "/orgs/o1/box?boxKey=b#now"],
  ["https://hwci.example/account", "/account"],
  ["/orgs/o1/../o2/runs", "/orgs/o2/runs"],
  ["/orgs/o1/none", null],
  ["/sign-in", null], // a sign-in that led to a sign-in would not end
  ["/", null],
  ["https://evil.example/orgs/o1/metrics", null],
  ["//evil.example/orgs/o1/metrics", null],
  ["\\\\evil.example\\orgs\\o1\\metrics", null],
  ["https://hwci.example:444/account", null],
  ["http://hwci.example/account", null],
  ["https://hwci.example@evil.example/account", null],
  ["javascript:alert(1)//orgs/o1/metrics", null],
  ["data:text/html,/account", null],
  ["https://[", null],
  ["", null],
  [null, null],
]) {
  test(`after a sign-in ${JSON.stringify(address)} leads to ${path}`, () => assert.equal(oursOnly(address), path));
}
