// SPDX-License-Identifier: Apache-2.0
// Signing in, by password or through a provider of single sign-on (contract, "Auth").

import { addressOf, change, go, oursOnly } from "../address.js";
import { takeWords } from "../cookies.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { invitation } from "../invitation.js";
import { loginPath, useProviders } from "../parts/form/providers.js";
import { signIn, watchSession } from "../session.js";
import { keepWanted, takeWanted } from "../wanted.js";

const REFUSAL = "hwci_refusal"; // the words of a sign-in that a provider or the server refused
const ENDED = "Your sign-in has ended: it expired, or it was ended on another device. Sign in to go on where you were.";
const LOST = "You were not signed in; sign in again";

/** The sign-in page. It goes on to the page that asked for a sign-in. */
export function SignIn({ address }) {
  const [fault, setFault] = useState(() => refusedWords(address));
  const [busy, setBusy] = useState(false);
  const [first, password] = [useRef(null), useRef(null)];
  // Before the first paint: later, it would take the focus from a field that someone has begun to fill.
  useLayoutEffect(() => first.current.focus(), []);
  const [kept] = useState(takeWanted); // a provider that refused led back here
  const next = oursOnly(address.query.get("next")) ?? kept ?? (invitation() ? addressOf("invitations") : "/");
  // Signed in here, or in another tab.
  useEffect(() => watchSession((begun) => begun && go(next, { replace: true })), [next]);
  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setFault(null);
    try {
      await signIn("/api/auth/login", Object.fromEntries(new FormData(event.target)));
    } catch (refused) {
      setFault(refused.message);
      setBusy(false);
      password.current.select();
    }
  };
  return html`<main class="standalone">
    <h1>Sign in to hwci</h1>
    ${!fault && address.query.has("ended") && html`<p role="status">${ENDED}</p>`}
    ${fault && html`<p class="failed" role="alert">${fault}</p>`}
    <form onSubmit=${submit}>
      <label>E-mail <input name="email" type="email" autocomplete="username" required ref=${first} /></label>
      <label>Password <input name="password" type="password" autocomplete="current-password" required ref=${password} /></label>
      <button type="submit" class="main" aria-disabled=${busy ? "true" : undefined}>${busy ? "Signing in…" : "Sign in"}</button>
    </form>
    <${Providers} next=${next} />
    <p class="quiet">No account? Ask an owner of your organization for an invitation. For the first user, open the link that${" "}
      <code>hwci serve</code> printed.
      Some servers let anyone <a href="/setup">register</a>.</p>
  </main>`;
}

/** A provider leads back to the first page, which takes what is kept here. */
function Providers({ next }) {
  const providers = useProviders();
  if (providers.length === 0) return null;
  return html`<p class="or">or</p>
    ${providers.map(
      ({ name, title }) => html`<a key=${name} class="button" href=${loginPath(name)}
        onClick=${() => keepWanted(next)}>Sign in with ${title}</a>`,
    )}`;
}

/** Return the message with which the server sent the browser here, and remove it. */
function refusedWords({ query }) {
  if (!query.has("sso")) return null;
  window.queueMicrotask(() => change({ sso: null }, { replace: true }));
  return takeWords(REFUSAL, "/sign-in") || LOST;
}
