// SPDX-License-Identifier: Apache-2.0
// Registering: the first user of a server, or somebody who was invited. The token stands in the
// address after "#", which no browser sends anywhere. The operator decides who may register.

import { addressOf, go } from "../address.js";
import { postOpenly } from "../api.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { keepInvitation } from "../invitation.js";
import { mark } from "../mark.js";
import { Field, NEW_PASSWORD, faultsOf } from "../parts/form/field.js";
import { useToken } from "../parts/form/link_token.js";
import { loginPath, useProviders } from "../parts/form/providers.js";
import { signIn } from "../session.js";

const FIELDS = [
  { name: "email", title: "E-mail", type: "email", autocomplete: "username", required: true },
  { name: "name", title: "Your name (optional)", autocomplete: "name", hint: "Shown to others beside your reviews." },
  {
    name: "organization",
    title: "New organization (optional)",
    autocomplete: "organization",
    hint: "You will own it. Leave it empty if you were invited to an existing one.",
  },
  { name: "password", title: "Password", ...NEW_PASSWORD },
];

const WITH_LINK = "Your link, from the server or an invitation, works once. You have an account?";
const WITHOUT_LINK = "You were invited? Open your link again. Without it you can register only if this server lets anyone.";

/** The set-up page. */
export function SetUp() {
  const token = useToken();
  const [fault, setFault] = useState(null);
  const [busy, setBusy] = useState(false);
  const form = useRef(null);
  useLayoutEffect(() => form.current.elements[0].focus(), []); // as on the sign-in page
  // Before a link of the page can be followed, as the token is needed there.
  useLayoutEffect(() => {
    setFault(null);
    if (!token) return;
    keepInvitation(token);
    const toInvitations = () => go(addressOf("invitations"), { replace: true });
    if (mark() !== undefined) window.queueMicrotask(toInvitations); // once the app watches the address
  }, [token]);
  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    const given = [...new FormData(event.target)].filter(([, value]) => value !== "");
    setBusy(true);
    setFault(null);
    try {
      await signIn("/api/auth/register", { ...Object.fromEntries(given), ...(token && { inviteToken: token }) });
      keepInvitation(null);
      go("/", { replace: true });
    } catch (refused) {
      setFault(refused);
      setBusy(false);
    }
  };
  const through = async (name) => {
    const { email } = form.current.elements;
    if (busy || !email.reportValidity()) return;
    setBusy(true);
    setFault(null);
    try {
      const { url } = await postOpenly(loginPath(name), { email: email.value, inviteToken: token });
      window.location.assign(url);
    } catch (refused) {
      setFault(refused);
      setBusy(false);
    }
  };
  const faults = faultsOf(fault);
  const besideNone = fault && !FIELDS.some(({ name }) => faults[name]);
  const refused = fault?.status === 403;
  return html`<main class="standalone">
    <h1>Set up your account</h1>
    ${besideNone && html`<p class="failed" role="alert">${fault.message}</p>`}
    ${refused && html`<${Refused} back=${() => setFault(null)} />`}
    <form ref=${form} onSubmit=${submit} hidden=${refused}>
      ${FIELDS.map((field) => html`<${Field} key=${field.name} ...${field} fault=${faults[field.name]} />`)}
      <button type="submit" class="main" aria-disabled=${busy ? "true" : undefined}>${busy ? "Registering…" : "Register"}</button>
    </form>
    ${token && !refused && html`<${Providers} ...${{ through, busy }} />`}
    <p class="quiet" hidden=${refused}>
      ${token ? WITH_LINK : WITHOUT_LINK} <a href="/sign-in">${token ? "Sign in to accept or decline" : "Sign in instead"}</a>
    </p>
  </main>`;
}

/** Registering without a password: the e-mail above is the one that was invited. */
function Providers({ through, busy }) {
  const providers = useProviders();
  if (providers.length === 0) return null;
  return html`<p class="or">or, for the e-mail above, without a password</p>
    ${providers.map(
      ({ name, title }) => html`<button key=${name} type="button" class="button" aria-disabled=${busy ? "true" : undefined}
        onClick=${() => through(name)}>Register with ${title}</button>`,
    )}`;
}

/**
 * What to do if the server refuses the registration. A link cannot be checked before the form is sent, so the form
 * is kept, with what was typed, for another e-mail.
 */
function Refused({ back }) {
  const title = useRef(null);
  useEffect(() => title.current.focus(), []);
  return html`<section class="refused">
    <h2 tabindex="-1" ref=${title}>What to do now</h2>
    <ul>
      <li>You registered before, perhaps by this link: <a href="/sign-in">sign in</a>.</li>
      <li>You were invited: ask the owner or admin who invited you for a new link. A link works once, within seven days, and
        for the e-mail that was invited.</li>
      <li>The server is new: as long as it has no user, it prints a new link each time that it starts. Links of
        earlier starts do not work.</li>
    </ul>
    <button type="button" onClick=${back}>Back to what I typed</button>
  </section>`;
}
