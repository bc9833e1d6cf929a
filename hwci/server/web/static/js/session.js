// SPDX-License-Identifier: Apache-2.0
// The sign-in of this browser (contract, "Auth"). The refresh token stands in a cookie that no
// script can read; the access token only in the memory of this module, one in each tab. A refresh
// token that is used twice ends every sign-in of its user, so tabs renew one after the other, under one
// lock, and a tab asks the others before it renews; and a renewal is never aborted, however long it takes.
// This module does not know the requests that use the token.

import { keep, kept } from "./kept.js";
import { bePresent, othersPresent, underLock } from "./lock.js";
import { forgetRenewal, isNoted, mark, noteRenewal, settled } from "./mark.js";
import { patience, refusal, unanswered } from "./refusal.js";

const LOCK = "hwci-renewal";
const TAB = "hwci-tab";
const RENEW_AT = 0.8; // of the access token's life
const ENDED = "hwci-ended"; // in this tab: the server refused the sign-in, which expired or was ended elsewhere
const TABS_ANSWER_WITHIN = 250; // milliseconds
const channel = new BroadcastChannel("hwci-session");

let access = null; // {token, renewAt}: milliseconds of this page's own clock
let given = null; // called with a token that another tab has
const watchers = new Set();

/** Return an access token, renewed when it is due, or null if there is no sign-in. */
export async function accessToken() {
  if (!isFresh()) await renew(access?.token);
  return access?.token ?? null;
}

/** Renew what the server refused, unless another caller or tab did so meanwhile. */
export function renew(refused) {
  return alone(async () => {
    if (isFresh(refused)) return;
    await settled();
    if (mark() === undefined) {
      if (isNoted()) keep("sessionStorage", ENDED, "yes"); // a page was refused after it was left
      return hold(null);
    }
    if (await givenByAnotherTab(refused)) return;
    await renewed();
  });
}

/** Sign in, or register. Throws what the server refuses. */
export async function signIn(path, body) {
  await alone(async () => {
    hold(await answered(path, body, patience()));
    channel.postMessage({ kind: "signed-in" });
  });
}

/** Sign out, in every tab. Throws when the server did not do it. */
export async function signOut() {
  await alone(async () => {
    await settled();
    await answered("/api/auth/logout", {}, patience());
    forgetRenewal(); // of a page that is gone: it must not tell of an end
    channel.postMessage({ kind: "signed-out" });
    hold(null);
  });
}

/** Whether there was a sign-in in this tab that the server knows no more; a page that is loaded again knows it too. */
export function hasEnded() {
  return kept("sessionStorage", ENDED) !== null;
}

/** Call `watcher` when a sign-in begins (true) or ends (false). Return a function that ends it. */
export function watchSession(watcher) {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Run `work` while no other tab does. A caller that waited too long gets an error; the work goes on. */
function alone(work) {
  const waiting = new AbortController();
  return new Promise((give, fail) => {
    patience().addEventListener("abort", () => {
      fail(unanswered());
      waiting.abort();
    });
    underLock(LOCK, work, waiting.signal).then(give, fail);
  });
}

async function renewed() {
  const used = mark();
  const note = () => noteRenewal(used);
  note();
  window.addEventListener("pagehide", note); // the answer may come after the page is gone
  try {
    hold(await answered("/api/auth/refresh"));
    forgetRenewal();
  } catch (fault) {
    if (fault.status === 0) note(); // the token may be used up
    else forgetRenewal();
    if (fault.status !== 401) throw fault; // a server that is busy ends no sign-in
    keep("sessionStorage", ENDED, "yes");
    hold(null);
  } finally {
    window.removeEventListener("pagehide", note);
  }
}

async function answered(path, body = {}, signal = null) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...body, session: "cookie" }),
    signal,
    keepalive: true, // the answer's cookie counts, even when this page is left before it comes
  }).catch(neverCame);
  if (!response.ok) throw await refusal(response);
  if (response.status === 204) return null;
  const { accessToken: token, expiresIn } = await response.json().catch(neverCame);
  return { token, renewIn: expiresIn * 1000 * RENEW_AT };
}

/** @returns {never} */
function neverCame() {
  throw unanswered();
}

function isFresh(refused) {
  return access !== null && access.token !== refused && performance.now() < access.renewAt;
}

function hold(pair) {
  const was = access;
  if (pair) keep("sessionStorage", ENDED, null);
  access = pair && { token: pair.token, renewAt: performance.now() + pair.renewIn };
  if (Boolean(was) !== Boolean(access)) for (const watcher of watchers) watcher(Boolean(access));
}

// A tab's token serves all tabs: send it to those that ask.

async function givenByAnotherTab(refused) {
  if (!(await othersPresent(TAB))) return false;
  const answer = new Promise((resume) => {
    given = (pair) => pair.token !== refused && resume(pair);
    window.setTimeout(resume, TABS_ANSWER_WITHIN, null);
  });
  channel.postMessage({ kind: "asked" });
  const pair = await answer;
  given = null;
  if (pair) hold(pair);
  return Boolean(pair);
}

const HEARD = {
  asked() {
    const renewIn = access && access.renewAt - performance.now();
    if (renewIn > 0) channel.postMessage({ kind: "given", pair: { token: access.token, renewIn } });
  },
  given: ({ pair }) => given?.(pair),
  "signed-out": () => hold(null),
  "signed-in"() {
    // It may be another person's, and this page shows what the one before may see.
    if (access) window.location.reload();
    else for (const watcher of watchers) watcher(true);
  },
};

channel.onmessage = ({ data }) => HEARD[data.kind]?.(data);
bePresent(TAB);
