// SPDX-License-Identifier: Apache-2.0
// The frame around every page: where the reader is, where they can go, who they are.

import { addressOf, go } from "../address.js";
import { counted } from "../format.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { signOut } from "../session.js";
import { isAdmin } from "./roles.js";
import { takenAlong } from "./scope.js";
import { ThemeChoice } from "./theme.js";

const PLACES = [
  ["metrics", "Metrics"],
  ["failures", "Failures"],
  ["runs", "Runs"],
  ["boxes", "Boxes"],
  ["members", "Members"],
  ["audit-log", "Audit log"],
];
const OF_ADMINS = new Set(["audit-log"]);
const PARTS_OF = { failure: "failures", run: "runs" };

/** The frame around a page. */
export function Frame({ address, me, organization, children }) {
  return html`
    <a class="skip" href="#main">Skip to content</a>
    <header class="frame">
      <a class="brand" href="/">hwci</a>
      <${Places} address=${address} organization=${organization} />
      <${Person} me=${me} organization=${organization} page=${address.page} />
    </header>
    ${me?.invitations > 0 && address.page !== "invitations" && html`<${Waits} number=${me.invitations} />`}
    <${Main} place=${JSON.stringify([address.page, address.params])}>${children}<//>
  `;
}

function Waits({ number }) {
  return html`<aside class="waits" aria-label="Your invitations">
    <a href=${addressOf("invitations")}>${counted(number, "invitation")}</a> to an organization${" "}
    ${number === 1 ? "waits" : "wait"} for you.
  </aside>`;
}

/** The page itself. After a link to another page the focus is at its beginning. */
function Main({ place, children }) {
  const main = useRef(null);
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) main.current.focus({ preventScroll: true });
    first.current = false;
  }, [place]);
  return html`<main id="main" tabindex="-1" ref=${main}>${children}</main>`;
}

function Places({ address, organization }) {
  const { orgId } = address.params;
  if (!orgId) return null;
  const current = PARTS_OF[address.page] ?? address.page;
  const shown = PLACES.filter(([page]) => !OF_ADMINS.has(page) || isAdmin(organization));
  return html`<nav aria-label="Pages"><ul>
    ${shown.map(
      ([page, title]) => html`<li key=${page}>
        <a href=${addressOf(page, { orgId }, takenAlong(page, orgId))} aria-current=${page === current ? "page" : undefined}>${title}</a>
      </li>`,
    )}
  </ul></nav>`;
}

function Person({ me, organization, page }) {
  const [fault, setFault] = useState(null);
  const leave = () => signOut().catch((error) => setFault(`You are still signed in. ${error.message}`));
  return html`<div class="person">
    ${me?.organizations.length > 1 && html`<${Organizations} all=${me.organizations} shown=${organization} />`}
    ${me && html`<span class="name quiet" title=${me.user.email}>${me.user.name || me.user.email}</span>`}
    <a class="quiet" href=${addressOf("account")} aria-current=${page === "account" ? "page" : undefined}>Account</a>
    <${ThemeChoice} />
    <button type="button" onClick=${leave}>Sign out</button>
    ${fault && html`<p class="failed" role="alert">${fault}</p>`}
  </div>`;
}

/**
 * The choice of an organization. Only the button goes there, so that arrow keys can look through the list; when
 * the focus leaves, the list shows the present organization again.
 */
function Organizations({ all, shown }) {
  const leave = (event) => {
    event.preventDefault();
    go(addressOf("metrics", { orgId: event.currentTarget.elements.orgId.value }));
  };
  const goBack = ({ currentTarget: form, relatedTarget }) => {
    if (!form.contains(relatedTarget)) form.elements.orgId.value = shown?.id ?? "";
  };
  // Some browsers give no focus to a button that is clicked, but to what around it can have one.
  return html`<form class="organizations" tabindex="-1" onSubmit=${leave} onFocusOut=${goBack}>
    <select name="orgId" aria-label="Organization" value=${shown?.id ?? ""} required>
      ${!shown && html`<option value="" disabled>Choose…</option>`}
      ${all.map(({ id, name }) => html`<option key=${id} value=${id}>${name}</option>`)}
    </select>
    <button aria-label="Go to this organization">Go</button>
  </form>`;
}
