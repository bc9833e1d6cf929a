// SPDX-License-Identifier: Apache-2.0
// Calls of the API: one way to call it, and one kind of error. `session.js` knows who is signed in, the pages
// know what the answers mean.

import { cutShort, patience, refusal, signedOut, within } from "./refusal.js";
import { accessToken, renew, watchSession } from "./session.js";

const NOT_MODIFIED = 304;
const KNOWN_MAX = 12; // answers
// The period of an answer ends when it was asked for, so it is asked for whole again after a while.
const KNOWN_MILLISECONDS = 300_000;
const known = new Map(); // address: {tag, answer, at}, what was asked last at the end
watchSession(() => known.clear());

/** Read from the API without a sign-in. */
export async function getOpenly(path) {
  return read(await sent("GET", path, { signal: patience() }, null));
}

/** Send to the API without a sign-in. */
export async function postOpenly(path, body) {
  return read(await sent("POST", path, { body, signal: patience() }, null));
}

/** @typedef {{body?: object, signal?: AbortSignal, headers?: Record<string, string>}} Request */

/** Read from the API. `query`: values of null are left out. */
export function get(path, query = {}, /** @type {Request} */ { signal } = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const search = new URLSearchParams(given).toString();
  return answerOf(search ? `${path}?${search}` : path, signal);
}

/** Return the answer that is kept if the server says that it is still the one, else the new one. */
async function answerOf(address, signal) {
  const had = known.get(address);
  const isRecent = had !== undefined && performance.now() - had.at < KNOWN_MILLISECONDS;
  const headers = isRecent ? { "If-None-Match": had.tag } : {};
  const response = await asked("GET", address, { signal: ending(signal), headers });
  if (isRecent && response.status === NOT_MODIFIED) return structuredClone(had.answer);
  const answer = await read(response);
  const tag = response.headers.get("ETag");
  known.delete(address);
  if (tag !== null) known.set(address, { tag, answer: structuredClone(answer), at: performance.now() });
  if (known.size > KNOWN_MAX) known.delete(known.keys().next().value);
  return answer;
}

/** Send to the API. */
export function post(path, body = undefined, /** @type {Request} */ { signal } = {}) {
  return call("POST", path, { body, signal });
}

/** Change something through the API. */
export function patch(path, body) {
  return call("PATCH", path, { body });
}

/** Delete through the API. */
export function remove(path) {
  return call("DELETE", path);
}

/** Open a stream of the API. Return the response, whose body is still being written; it may never end. */
export async function open(path, /** @type {Request} */ { signal, headers = {} } = {}) {
  const response = await asked("GET", path, { signal, headers });
  if (!response.ok) throw await refusal(response);
  return response;
}

/** Whether the server gives the document of the page that is shown. */
export async function givesDocument() {
  const request = { method: "HEAD", cache: /** @type {const} */ ("no-store"), signal: patience() };
  const response = await fetch(window.location.href, request).catch(() => null);
  return response?.ok ?? false;
}

async function call(method, path, /** @type {Request} */ { body, signal } = {}) {
  return read(await asked(method, path, { body, signal: ending(signal) }));
}

/** Return what ends a request: who sends it, or the patience with the server. */
function ending(signal) {
  return signal ? AbortSignal.any([signal, patience()]) : patience();
}

async function read(response) {
  if (!response.ok) throw await refusal(response);
  if (response.status === 204) return null;
  return response.json().catch((fault) => {
    throw cutShort(fault); // torn, or it took too long
  });
}

async function asked(method, path, request) {
  const token = await inTime(request, accessToken());
  if (token === null) throw signedOut();
  const response = await sent(method, path, request, token);
  if (response.status !== 401) return response;
  await inTime(request, renew(token));
  const renewed = await inTime(request, accessToken());
  return renewed === null ? response : sent(method, path, request, renewed);
}

/** The sign-in is waited for no longer than the answer; its renewal goes on. */
function inTime({ signal }, promise) {
  return signal ? within(signal, promise) : promise;
}

async function sent(method, path, /** @type {Request} */ { body, signal, headers = {} }, token) {
  const own = { ...headers, ...(token !== null && { Authorization: `Bearer ${token}` }) };
  if (body !== undefined) own["Content-Type"] = "application/json";
  try {
    return await fetch(path, { method, signal, headers: own, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (fault) {
    throw cutShort(fault);
  }
}
