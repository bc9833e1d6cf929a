// SPDX-License-Identifier: Apache-2.0
// The words for an entry of the audit log: what was done, and to which thing. An entry of a kind that
// this page does not know is shown as it is.

import { addressOf } from "../../address.js";
import { counted } from "../../format.js";
import { html } from "../../html.js";
import { Outside } from "../../parts/values/outside.js";
import { BoxLink, HistoryLink } from "../../parts/values/past.js";
import { Copied, LongName, Sha } from "../../parts/values/values.js";
import { classText } from "../../parts/values/classes.js";

const named = ({ details }) => details.name;
const box = ({ details }, orgId) => html`<${BoxLink} boxKey=${details.name} orgId=${orgId} />`;

const failure = ({ target, details }, orgId) => html`
  <a href=${addressOf("failure", { orgId, failureId: target })}><${LongName} name=${details.testId} /></a>
  <span class="under">${details.suite} · ${details.repoKey}</span>
  <span class="under"><${BoxLink} plain boxKey=${details.boxKey} orgId=${orgId} /> · ${details.branch} ·
    ${" "}<${Sha} sha=${details.sha} repo=${details.repoKey} /> <${HistoryLink} test=${details} orgId=${orgId} /></span>
  <span class="under">${classText(details.classBefore)} → ${classText(details.classAfter)}</span>
  ${details.note && html`<span class="under">${details.note}</span>`}
  ${details.issue && html`<span class="under"><${Outside} href=${details.issue}>${details.issue}<//></span>`}`;

const member = ({ details }) => html`${details.email} <span class="under">${details.role}</span>`;
const role = ({ details }) => html`${details.email} <span class="under">${details.roleBefore} → ${details.roleAfter}</span>`;
const sessions = ({ details }) => html`${counted(details.sessions, "sign-in")} ended`;
const renamed = (entry, orgId) => html`${box(entry, orgId)}
  ${" "}<span class="under">${entry.details.nameBefore} → ${entry.details.name}</span>`;
const noted = (entry, orgId) => html`${box(entry, orgId)} <span class="under">${entry.details.note}</span>`;
const rule = ({ details: { name, testId, message, boxKey } }) => html`<${Outside} href=${name}>${name}<//>
  ${[testId, message, boxKey].filter(Boolean).map((part) => html` <span class="under" key=${part}>${part}</span>`)}`;
const emailOf = ({ details }) => details.email;
const identity = ({ details }) => details.issuer;
const keepDays = ({ details }) => ["reports", "messages", "logs"]
  .map((kind) => `${kind} ${details[kind] === null ? "for ever" : counted(details[kind], "day")}`).join(", ");
const organization = () => html`<span class="quiet">the organization</span>`;

// What was done, and how its target is described.
const ACTIONS = {
  confirm: ["confirmed as a real firmware bug", failure],
  dismiss: ["dismissed a failure", failure],
  reset: ["reset a review", failure],
  "box.created": ["added a box", box],
  "box.install_token": ["made a new install token", box],
  "box.renamed": ["renamed a box", renamed],
  "box.removed": ["removed a box", box],
  "box.note_added": ["noted what was done to a box", noted],
  "box.note_removed": ["removed a note of a box", noted],
  "box.key_ended": ["lost the key of a box", box],
  "box.installed": ["was installed with a new key", box],
  "ci_key.created": ["created a CI key", named],
  "ci_key.revoked": ["revoked a CI key", named],
  "reader_key.created": ["created a reader key", named],
  "reader_key.revoked": ["revoked a reader key", named],
  "trust.created": ["trusted CI jobs of a repository", named],
  "trust.removed": ["trusts CI jobs of a repository no more", named],
  "known_failure.added": ["called failures known", rule],
  "known_failure.removed": ["removed a rule for known failures", rule],
  "webhook.created": ["made a webhook", named],
  "webhook.changed": ["changed a webhook", named],
  "webhook.removed": ["removed a webhook", named],
  "member.added": ["added a member", member],
  "member.role": ["changed a role", role],
  "member.removed": ["removed a member", member],
  "member.unproved": ["lost an account whose e-mail nobody had proved", member],
  "member.left": ["left the organization", member],
  "invite.created": ["invited somebody", member],
  "invite.withdrawn": ["withdrew an invitation", member],
  "invite.declined": ["declined an invitation", member],
  "password.changed": ["changed their password", sessions],
  "password.reset_link": ["made a link that resets a password", emailOf],
  "password.reset": ["set a new password by the operator's link", sessions],
  "session.ended": ["ended their own sessions", sessions],
  "user.disabled": ["disabled a user", emailOf],
  "user.enabled": ["enabled a user", emailOf],
  "user.vouched": ["vouched for a user", emailOf],
  "user.erased": ["erased a user", emailOf],
  "session.reuse": ["used a refresh token twice", sessions],
  "identity.linked": ["linked a single sign-on", identity],
  "organization.keep_days": ["set for how many days something is kept", keepDays],
  "organization.deleted": ["deleted", organization],
  "organization.undeleted": ["undid the deletion of", organization],
  "ci_metrics.enabled": ["turned CI Metrics on", organization],
  "ci_metrics.disabled": ["turned CI Metrics off", organization],
  "records.rebuilt": ["recomputed all records", organization],
  "records.purged": ["deleted what had been replaced", organization],
  "records.imported": ["imported records", organization],
  "records.exported": ["exported all records", organization],
};

/** What was done. */
export function deedOf({ action, details }) {
  if (action === "member.added" && details.invited) return "joined by invitation";
  return ACTIONS[action]?.[0] ?? action;
}

/** Its target. */
export function thingOf(entry, orgId) {
  const describe = ACTIONS[entry.action]?.[1];
  if (describe) return describe(entry, orgId);
  return html`<${Copied} text=${entry.target} /> <span class="under">${JSON.stringify(entry.details)}</span>`;
}
