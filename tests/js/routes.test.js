// SPDX-License-Identifier: Apache-2.0
// The addresses of pages, read and written.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ROUTES, pathOf, routeOf } from "../../hwci/server/web/static/js/routes.js";

const ID = "0197fdb4-0000-7000-8000-000000000009";
const NOWHERE = { page: null, params: {} };

for (const [path, page] of Object.entries(ROUTES)) {
  const names = [...path.matchAll(/{(\w+)}/g)].map(([, name]) => name);
  test(`${path} is the page ${page}, with a slash at its end too`, () => {
    const params = Object.fromEntries(names.map((name, i) => [name, `${ID}${i}`]));
    const written = path.replace(/{(\w+)}/g, (_, name) => params[name]);
    assert.deepEqual(routeOf(written), { page, params });
    assert.deepEqual(routeOf(`${written.replace(/\/$/, "")}/`), { page, params });
    assert.deepEqual(routeOf(pathOf(page, params)), { page, params });
  });
}

test("a page with two paths is written with the last", () => {
  assert.equal(pathOf("metrics", { orgId: ID }), `/orgs/${ID}/metrics`);
});

test("a name may hold whatever a path may not", () => {
  for (const runId of ["a/b", "ü 🔧", "?x#y", "%", "%2F", "..", "{orgId}", "$&"]) {
    const path = pathOf("run", { orgId: ID, runId });
    assert.equal(path.split("/").length, 5, path);
    assert.deepEqual(routeOf(path), { page: "run", params: { orgId: ID, runId } });
  }
});

for (const path of ["", "orgs", "/none", "/orgs", "/orgs/", "/Account", "/account/x", "//account", "/sign-in//", "/account\n"]) {
  test(`${JSON.stringify(path)} is no page`, () => assert.deepEqual(routeOf(path), NOWHERE));
}

test("an address below an organization names it, though it is no page", () => {
  assert.deepEqual(routeOf(`/orgs/${ID}/none`), { page: null, params: { orgId: ID } });
  assert.deepEqual(routeOf(`/orgs/${ID}/runs/1/2`), { page: null, params: { orgId: ID } });
});

test("a percent sign that encodes nothing is itself", () => {
  assert.deepEqual(routeOf("/orgs/%E0%A4%A/box"), { page: "box", params: { orgId: "%E0%A4%A" } });
});
