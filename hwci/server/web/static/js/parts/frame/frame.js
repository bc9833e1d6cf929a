// SPDX-License-Identifier: Apache-2.0
// The frame around every page: where the reader is, where they can go, who they are.

import { addressOf } from "../../address.js";
import { count, counted } from "../../format.js";
import { html, useLayoutEffect, useRef, useState } from "../../html.js";
import { signOut } from "../../session.js";
import { Finding } from "./finding.js";
import { Keys } from "./keys.js";
import { Menu } from "./menu.js";
import { isAdmin } from "./roles.js";
import { takenAlong } from "./scope.js";
import { ThemeChoice } from "./theme.js";
import { useWaitingAt } from "./waiting.js";

const PLACES = [
  ["metrics", "Metrics"],
  ["failures", "Failures"],
  ["review", "Review"],
  ["runs", "Runs"],
  ["boxes", "Boxes"],
  ["members", "Members"],
  ["audit-log", "Audit log"],
];
const OF_ADMINS = new Set(["audit-log"]);
const PARTS_OF = { failure: "failures", test: "failures", run: "runs", box: "boxes" };

/** The frame around a page. */
export function Frame({ address, me, organization, children }) {
  return html`
    <a class="skip" href="#main">Skip to content</a>
    <header class="frame">
      <a class="brand" href="/">hwci</a>
      <${Places} address=${address} organization=${organization} />
      ${address.params.orgId && html`<${Finding} orgId=${address.params.orgId} organization=${organization} isKnown=${me !== null}
        places=${[...placesOf(organization), ["account", "Account"]]} />`}
      <${Person} me=${me} organization=${organization} page=${address.page} />
      <${Keys} />
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
  useLayoutEffect(() => { // before the browser draws, as nothing is typed yet
    if (!first.current) main.current.focus({ preventScroll: true });
    first.current = false;
  }, [place]);
  return html`<main id="main" tabindex="-1" ref=${main}>${children}</main>`;
}

function Places({ address, organization }) {
  const { orgId } = address.params;
  if (!orgId) return null;
  const current = PARTS_OF[address.page] ?? address.page;
  return html`<nav aria-label="Pages"><ul>
    ${placesOf(organization).map(([page, title]) => {
      const href = addressOf(page, { orgId }, takenAlong(page, orgId));
      return html`<li key=${page}><a href=${href} aria-current=${page === current ? "page" : undefined}>${title}
        ${page === "review" && html`<${Waiting} href=${href} />`}</a></li>`;
    })}
  </ul></nav>`;
}

/** How many causes wait for a review. It takes no room, as it is known later. */
function Waiting({ href }) {
  const number = useWaitingAt(href);
  return number > 0 && html`<span class="to-do-count" title=${`${counted(number, "cause")} to review`}>${" "}${count(number)}</span>`;
}

function placesOf(organization) {
  return PLACES.filter(([page]) => !OF_ADMINS.has(page) || isAdmin(organization));
}

function Person({ me, organization, page }) {
  const [fault, setFault] = useState(null);
  const leave = () => signOut().catch((error) => setFault(`You are still signed in. ${error.message}`));
  const name = me && html`<span class="name">${me.user.name || me.user.email}</span>`;
  return html`<div class="person">
    ${me && html`<${Organizations} all=${me.organizations} shown=${organization} />`}
    <${Menu} label=${name ?? "You"} title=${me?.user.email}>
      <a href=${addressOf("account")} aria-current=${page === "account" ? "page" : undefined}>Account</a>
      <${ThemeChoice} />
      <button type="button" onClick=${leave}>Sign out</button>
    <//>
    ${fault && html`<p class="failed" role="alert">${fault}</p>`}
  </div>`;
}

/** The organization, and the others of the reader to go to. */
function Organizations({ all, shown }) {
  if (all.length < 2) return shown && html`<span class="organization quiet">${shown.name}</span>`;
  const label = html`<span class="unseen">Organization: </span><span class="organization">${shown?.name ?? "Choose…"}</span>`;
  return html`<${Menu} label=${label}>
    ${all.map(
      ({ id, name }) => html`<a key=${id} href=${addressOf("metrics", { orgId: id })}
        aria-current=${id === shown?.id ? "true" : undefined}>${name}</a>`,
    )}
  <//>`;
}
