// SPDX-License-Identifier: Apache-2.0
// The addresses of the pages: one table, which the server reads too (`site.py`), and how an address is read and written by it.
// It knows no browser.

/** Each path and the page at it, as JSON. A page is written with the last of its paths. */
export const ROUTES = {
  "/": "home",
  "/sign-in": "sign-in",
  "/sign-in/command-line": "command-line",
  "/setup": "set-up",
  "/reset": "reset",
  "/account": "account",
  "/invitations": "invitations",
  "/orgs/{orgId}": "metrics",
  "/orgs/{orgId}/metrics": "metrics",
  "/orgs/{orgId}/failures": "failures",
  "/orgs/{orgId}/failures/{failureId}": "failure",
  "/orgs/{orgId}/test": "test",
  "/orgs/{orgId}/commit": "commit",
  "/orgs/{orgId}/review": "review",
  "/orgs/{orgId}/runs": "runs",
  "/orgs/{orgId}/runs/{runId}": "run",
  "/orgs/{orgId}/boxes": "boxes",
  "/orgs/{orgId}/box": "box",
  "/orgs/{orgId}/members": "members",
  "/orgs/{orgId}/audit-log": "audit-log"
};

const PATHS = Object.fromEntries(Object.entries(ROUTES).map(([path, page]) => [page, path]));

/** Return the page of a path and the parameters in it: `{page, params}`; of no page of ours null, and the organization if it names one. */
export function routeOf(path) {
  for (const [pattern, page] of Object.entries(ROUTES)) {
    const params = matched(pattern, path);
    if (params) return { page, params };
  }
  return { page: null, params: matched("/orgs/{orgId}/.*", path) ?? {} };
}

/** Write the path of a page. `params`: the parameters in it, by name. */
export function pathOf(page, params) {
  return PATHS[page].replace(/{(\w+)}/g, (_, name) => encodeURIComponent(params[name]));
}

function matched(pattern, path) {
  const names = [];
  const source = pattern.replace(/{(\w+)}/g, (_, name) => names.push(name) && "([^/]+)");
  const found = new RegExp(`^${source}/?$`).exec(path);
  return found && Object.fromEntries(names.map((name, i) => [name, decoded(found[i + 1])]));
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // none of our names has a lone "%"
  }
}
