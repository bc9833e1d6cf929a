// SPDX-License-Identifier: Apache-2.0
// Small values as they are shown everywhere: a time, a commit's hash, a badge.

import { addressOf, change, here } from "../../address.js";
import { ago, moment, short } from "../../format.js";
import { html, useEffect, useState } from "../../html.js";
import { CommitLink, PullLink } from "./links.js";

const COPIED_MILLISECONDS = 1500;
const MINUTE_MILLISECONDS = 60_000;
const SHEETS = html`<svg width="14" height="14" viewBox="0 0 16 16" fill="none" stroke="currentColor" aria-hidden="true">
  <path d="M6 6h8v8H6zM3 10.5H2V2h8v1" /></svg>`; // two, one on the other: copies
const aging = new Set();
let minutes = null; // the one timer of all times that are shown

/** A time, as its age or in full; the address has which of them is shown (`ExactTimes`). */
export function Time({ at }) {
  useAging();
  const [read, beside] = isExact() ? [moment(at), ago(at)] : [ago(at), moment(at)];
  return html`<time datetime=${at} title=${beside}>${read}</time>`;
}

/** The switch between "3 days ago" and the time in full, of all times of a page and those it leads to. */
export function ExactTimes() {
  const exact = isExact();
  const turn = () => change({ times: exact ? null : "exact" }, { replace: true });
  return html`<button type="button" aria-pressed=${exact ? "true" : "false"} onClick=${turn}>Exact times</button>`;
}

// Another address redraws the whole page, so that no view has to watch it.
function isExact() {
  return new URLSearchParams(window.location.search).get("times") === "exact";
}

function ageAll() {
  for (const age of aging) age();
}

/** Redraw a view each minute, as ages grow. */
function useAging() {
  const [, draw] = useState(0);
  useEffect(() => {
    const age = () => draw((was) => was + 1);
    aging.add(age);
    minutes ??= window.setInterval(ageAll, MINUTE_MILLISECONDS);
    return () => {
      aging.delete(age);
      if (aging.size > 0) return;
      window.clearInterval(minutes);
      minutes = null;
    };
  }, []);
}

/** A commit's hash, short: a link to its page, a sign that copies all of it, and one to the site of its repository. */
export function Sha({ sha, repo }) {
  return html`<span class="unbroken"><a class="sha" href=${addressOfCommit(repo, sha)}><code>${short(sha)}</code></a><${Copied}
    text=${sha} shown=${SHEETS} sign /><${CommitLink} ...${{ repo, sha }} /></span>`;
}

/** The page of a commit, by the period of this page. */
function addressOfCommit(repoKey, sha) {
  const { page, params, query } = here();
  const period = page === "runs" ? [] : ["days", "from", "asOf"].map((name) => [name, query.get(name)]);
  return addressOf("commit", { orgId: params.orgId }, { ...Object.fromEntries(period), repoKey, sha });
}

/** A text that a click copies, or shows in full if the browser cannot copy. `shown`: a shorter form, `sign`: one sign. */
export function Copied({ text, shown = text, sign = false }) {
  const [status, setStatus] = useState("");
  const copy = async (event) => {
    const done = await copied(text, event.currentTarget);
    setStatus(done ? "copied" : text);
    if (done) window.setTimeout(() => setStatus(""), COPIED_MILLISECONDS);
  };
  const passing = status === "copied" ? " passing" : "";
  return html`<span class="sha-all"><button type="button" class=${sign ? "copy" : "sha"} title=${`Copy ${text}`}
      aria-label=${sign ? `Copy ${text}` : undefined} onClick=${copy}>${sign ? shown : html`<code>${shown}</code>`}</button>
    <span class=${`copy-status${passing}`} role="status">${status}</span></span>`;
}

/** Copy a text. Return whether that worked. `button`: gets the focus back. */
export async function copied(text, button) {
  try {
    // Without HTTPS a page has no clipboard of its own, and copies what is selected.
    if (!navigator.clipboard) return copiedBySelection(text, button);
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text, button);
  }
}

function copiedBySelection(text, button) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  button.focus({ preventScroll: true });
  return done;
}

/**
 * A commit's first line, as the report has it. `repo`: its repository, whose site has the pull request that the line
 * names; left out within a button.
 */
export function Subject({ text, repo }) {
  if (!text) return html`<span class="quiet">no subject: the report has an empty one</span>`;
  return html`${text}<${PullLink} repo=${repo} subject=${text} />`;
}

// A long name may break after these, without a hyphen that would be copied.
const PAUSES = /(?<=::|[_/.[])(?=[^_/.:[])/;

/** A long name, such as a test's: it breaks between its parts, and within one only where nothing else helps. */
export function LongName({ name }) {
  return name.split(PAUSES).map((part, i) => (i === 0 ? part : html`<wbr />${part}`));
}

/** What the harness wrote of a failure; nothing where there is none. */
export function Message({ text }) {
  return text ? html`<div class="message">${text}</div>` : null;
}

/** A word that stands for a state; `kind` gives its colour, never the colour alone its meaning. */
export function Badge({ kind, title, children }) {
  return html`<span class=${`badge badge-${kind}`} title=${title}>${children}</span>`;
}
