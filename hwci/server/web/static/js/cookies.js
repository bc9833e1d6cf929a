// SPDX-License-Identifier: Apache-2.0
// The cookies that scripts can read: how one is found, written and forgotten. What they say is not known here.

const OVER_TLS = "__Secure-"; // what the server's names begin with there (contract, "Auth")

/** Give the value of a cookie of the server's; undefined: there is none. */
export function given(name) {
  return [OVER_TLS + name, name].map(cookie).find(Boolean);
}

/** Forget a cookie of the server's. */
export function forget(name, path) {
  for (const one of [OVER_TLS + name, name]) keepCookie(one, "", { path, seconds: 0 });
}

/** Give the value of a cookie; undefined: there is none. */
export function cookie(name) {
  const written = document.cookie.split("; ").find((one) => one.startsWith(`${name}=`));
  return written?.slice(name.length + 1);
}

/** Keep a cookie for so long; 0: no longer. */
export function keepCookie(name, value, { path, seconds }) {
  const secure = window.location.protocol === "https:" ? "; Secure" : "";
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API exists over TLS only
  document.cookie = `${name}=${value}; Path=${path}; Max-Age=${seconds}; SameSite=Strict${secure}`;
}
