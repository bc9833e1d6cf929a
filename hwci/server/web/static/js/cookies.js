// SPDX-License-Identifier: Apache-2.0
// Reading, writing and deleting the cookies that scripts can read. This module does not know their meaning.

const OVER_TLS = "__Secure-"; // what the server's names begin with there (contract, "Auth")

/** Return the value of a cookie that the server set, or undefined. */
export function given(name) {
  return [OVER_TLS + name, name].map(cookie).find(Boolean);
}

/** Delete a cookie that the server set. */
export function forget(name, path) {
  for (const one of [OVER_TLS + name, name]) keepCookie(one, "", { path, seconds: 0 });
}

/** Return the words that the server left for a page, and remove them; "" without any, or if they are broken. */
export function takeWords(name, path) {
  const text = given(name) ?? "";
  forget(name, path);
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** Return the value of a cookie, or undefined. */
export function cookie(name) {
  const written = document.cookie.split("; ").find((one) => one.startsWith(`${name}=`));
  return written?.slice(name.length + 1);
}

/** Set a cookie for a number of seconds; 0 deletes it. */
export function keepCookie(name, value, { path, seconds }) {
  const secure = window.location.protocol === "https:" ? "; Secure" : "";
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API exists over TLS only
  document.cookie = `${name}=${value}; Path=${path}; Max-Age=${seconds}; SameSite=Strict${secure}`;
}
