// SPDX-License-Identifier: Apache-2.0
// Which page is shown to whom: the pages by name, and what comes before each of them (a sign-in, an
// organization). A page knows nothing of the others.

import { addressOf, go, here, watch } from "./address.js";
import { useAnswer } from "./asking.js";
import { takeWords } from "./cookies.js";
import { html, useEffect, useLayoutEffect, useState } from "./html.js";
import { keep, kept } from "./kept.js";
import { Frame } from "./parts/frame/frame.js";
import { later } from "./parts/later.js";
import { Failed, Waiting } from "./parts/notices/notice.js";
import { hasEnded, watchSession } from "./session.js";
import { takeWanted } from "./wanted.js";

const OPEN_TO_ALL = {
  "sign-in": later(() => import("./pages/sign_in.js"), "SignIn"),
  "command-line": later(() => import("./pages/command_line.js"), "CommandLine"),
  "set-up": later(() => import("./pages/set_up.js"), "SetUp"),
  reset: later(() => import("./pages/reset.js"), "ResetPassword"),
};
const OF_PERSON = {
  account: later(() => import("./pages/account.js"), "Account"),
  invitations: later(() => import("./pages/invitations.js"), "Invitations"),
};
const OF_ORGANIZATION = {
  metrics: later(() => import("./pages/metrics.js"), "Metrics"),
  failures: later(() => import("./pages/failures.js"), "Failures"),
  failure: later(() => import("./pages/failure.js"), "Failure"),
  test: later(() => import("./pages/test.js"), "Test"),
  commit: later(() => import("./pages/commit.js"), "CommitPage"),
  review: later(() => import("./pages/review.js"), "Review"),
  runs: later(() => import("./pages/runs.js"), "Runs"),
  run: later(() => import("./pages/run.js"), "Run"),
  boxes: later(() => import("./pages/boxes.js"), "Boxes"),
  box: later(() => import("./pages/box.js"), "Box"),
  members: later(() => import("./pages/members.js"), "Members"),
  "audit-log": later(() => import("./pages/audit_log.js"), "AuditLog"),
};
const NoneYet = later(() => import("./pages/no_organization.js"), "NoOrganization");
const NotThere = later(() => import("./parts/notices/missing.js"), "NotThere");
const LAST_ORGANIZATION = "hwci-organization";

/** The title of the window. A page about one thing sets its own. */
const TITLES = {
  "sign-in": "Sign in",
  "command-line": "Sign in to the command line",
  "set-up": "Set up",
  reset: "New password",
  account: "Your account",
  metrics: "Metrics",
  failures: "Failures",
  review: "Review",
  runs: "Runs",
  boxes: "Boxes",
  members: "Members",
  "audit-log": "Audit log",
  invitations: "Invitations",
};

/** Load what draws the page that the address means, before anything is drawn. */
export async function loadPage() {
  const { page } = here();
  await (OPEN_TO_ALL[page] ?? OF_PERSON[page] ?? OF_ORGANIZATION[page])?.load();
}

/** The dashboard. */
export function App() {
  const [address, setAddress] = useState(here);
  useLayoutEffect(() => watch(setAddress), []); // before anything that is asked for can lead elsewhere
  const Open = OPEN_TO_ALL[address.page];
  useEffect(() => {
    if (Open) document.title = `${TITLES[address.page]} · hwci`;
  }, [Open]);
  return Open ? html`<${Open} address=${address} />` : html`<${SignedIn} address=${address} />`;
}

function SignedIn({ address }) {
  const me = useAnswer("/api/auth/me");
  const [notice] = useState(() => takeWords("hwci_notice", "/")); // what became of the account at this sign-in
  useEffect(() => watchSession((begun) => !begun && toSignIn()), []);
  useEffect(() => {
    if (me.error?.status === 401) toSignIn();
  }, [me.error]);
  useLayoutEffect(() => { // before the frame of no page is seen
    if (address.page === "home" && me.data) goHome(me.data);
  }, [address.page, me.data]);
  const organization = useOrganization(me, address.params.orgId);
  useEffect(() => entered(address.page, organization), [address.page, organization]);
  if (me.error && me.error.status !== 401) {
    return html`<main class="standalone"><${Failed} error=${me.error} again=${me.again} /></main>`;
  }
  // The organization's page asks beside this question, not after it.
  const Page = OF_ORGANIZATION[address.page];
  return html`<${Frame} address=${address} me=${me.data} organization=${organization}>
    ${notice && html`<p class="waits" role="status">${notice}</p>`}
    ${shown(Page, address, me, organization)}
  <//>`;
}

/** The organization of an address; null while it is asked for, as of very many the server does not tell all at once. */
function useOrganization({ data: me }, orgId) {
  const listed = me?.organizations.find(({ id }) => id === orgId);
  const isUnlisted = me && orgId && !listed && me.total > me.organizations.length;
  const asked = useAnswer(isUnlisted ? `/api/orgs/${orgId}` : null);
  return listed ?? (isUnlisted && !asked.error ? asked.data : undefined);
}

function entered(page, organization) {
  if (organization) keep("localStorage", LAST_ORGANIZATION, organization.id);
  if (TITLES[page]) document.title = [TITLES[page], organization?.name, "hwci"].filter(Boolean).join(" · ");
}

function shown(Page, address, { data: me, again, put }, organization) {
  if (address.page === null) return html`<${NoPage} ...${{ address, me, organization }} />`;
  const Own = OF_PERSON[address.page];
  if (Own) return me ? html`<${Own} ...${{ address, me, put }} />` : html`<${Waiting} />`;
  if (me && Page && organization === undefined) return html`<${NoOrganization} ...${{ address, me }} />`;
  if (!Page) {
    const none = me && me.organizations.length === 0;
    return none ? html`<${NoneYet} me=${me} made=${again} />` : html`<${Waiting} />`;
  }
  const { orgId } = address.params;
  return html`<${Page} key=${address.page + orgId} ...${{ address, orgId, organization, me, put }} />`;
}

function NoPage({ address, me, organization }) {
  const organizations = organization ? [organization] : (me?.organizations ?? []);
  return html`<${NotThere} title="No such page" sought=${address.path} organizations=${organizations}>
    there is no page at this address.
  <//>`;
}

/** The page for an organization that does not exist, or that the reader is not a member of. */
function NoOrganization({ address, me }) {
  const { orgId } = address.params;
  return html`<${NotThere} title="No such organization" sought=${orgId} organizations=${me.organizations}>
    no organization has this id, or you are not a member of it.
  <//>`;
}

/** The organization that was seen last in this browser; else one that has CI Metrics on. */
function goHome({ organizations }) {
  const last = kept("localStorage", LAST_ORGANIZATION);
  const organization =
    organizations.find(({ id }) => id === last) ??
    organizations.find(({ ciMetricsEnabled }) => ciMetricsEnabled) ??
    organizations[0];
  if (organization) go(takeWanted() ?? addressOf("metrics", { orgId: organization.id }), { replace: true });
}

function toSignIn() {
  const { path, page } = here();
  const next = page === "home" || page === "sign-in" ? null : path + window.location.hash;
  go(addressOf("sign-in", {}, { next, ended: hasEnded() || null }), { replace: true });
}
