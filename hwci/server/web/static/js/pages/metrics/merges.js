// SPDX-License-Identifier: Apache-2.0
// The table "Merges not checked on hardware" (spec, "Metrics page (dashboard)"), and in its place, when it is
// asked for, that of the merges that were checked, each with the run that did it first. Why a merge is unchecked is
// asked beside the table, which stands without it.

import { addressOf, change } from "../../address.js";
import { useAnswer } from "../../asking.js";
import { count, short } from "../../format.js";
import { html, useEffect, useRef, useState } from "../../html.js";
import { Outside } from "../../parts/values/outside.js";
import { BoxLink } from "../../parts/values/past.js";
import { productColumn } from "../../parts/frame/scope.js";
import { later } from "../../parts/later.js";
import { Section } from "../../parts/section.js";
import { PagedTable, showAll, tableState } from "../../parts/table/table.js";
import { Sha, Subject, Time } from "../../parts/values/values.js";
import { RunLink } from "../../parts/values/words.js";

const UNCHECKED = {
  value: null,
  title: "Merges not checked on hardware",
  short: "Not checked",
  label: "Merges, not checked",
  path: "unchecked-merges",
  empty: "Every merge of this period ran on hardware.",
};
const CHECKED = {
  value: "checked",
  title: "Merges checked on hardware",
  short: "Checked",
  label: "Merges, checked",
  path: "checked-merges",
  empty: "No merge of this period ran on hardware. “Not checked” lists them, and “runs” what ran on the commit of each.",
};

const Plan = later(() => import("./plan.js"), "Plan");
const NOTHING_RAN = "nothing_ran";
const ALL = "open"; // in the address, where the plan of one commit has its hash

// So short that each is one line: the row must not grow when its cause comes.
const CAUSES = {
  hardware_not_reached: "hardware never reached",
  no_tests: "ran no test",
  other_product: "only another product ran",
  not_in_push_list: "only a later commit was tested",
  [NOTHING_RAN]: "nothing ran",
};

/** What an address is changed by to show these merges, all of them. `value`: "checked", or null for the others. */
export function toMerges(value) {
  return { merges: value, ...showAll("merges"), "merges.page": null, "merges.search": null };
}

/** The table. */
export function Merges({ address, base, orgId, scope, several, page, figures, reviews }) {
  const shown = address.query.get("merges") === CHECKED.value ? CHECKED : UNCHECKED;
  const { checked, announced } = page.tiles.mergesChecked;
  const unchecked = page.uncheckedMerges.total;
  const why = useCauses({ address, orgId, scope, reviews, figures, on: shown === UNCHECKED && unchecked > 0 });
  const [sought, setSought] = useState(null); // the commit of which a click asked what to do
  const show = (sha) => {
    change({ "merges.plan": sha });
    setSought({ sha });
  };
  const columns = [
    { key: "sha", title: "Commit", sort: "sha", cell: (row) => commit(orgId, row, why.get(keyOf(row))) },
    ...productColumn(page.product, several),
    { key: "branch", title: "Branch", sort: "branch", cell: (row) => row.branch },
    { key: "mergedAt", title: "Merged", sort: "mergedAt", own: "down", cell: (row) => html`<${Time} at=${row.mergedAt} />` },
    shown === CHECKED
      ? { key: "run", title: "First checked by", words: true, cell: (row) => checkedBy(orgId, row) }
      : { key: "why", title: "Why", cell: (row) => cause({ address, orgId, show, row: why.get(keyOf(row)) }) },
  ];
  return html`<${Section} title=${shown.title} anchor="merges">
    ${namesTwice(page.uncheckedMerges.items) && html`<p class="quiet">A merge that was announced for two products counts twice.</p>`}
    ${announced > 0 && html`<${Choice} shown=${shown} counts=${[[UNCHECKED, unchecked], [CHECKED, checked]]} />`}
    <${PagedTable} folds key=${shown.path} name="merges" label=${shown.label} thing="merge" path=${`${base}/${shown.path}`}
      turn=${reviews.turn} query=${scope} address=${address} first=${shown === CHECKED ? undefined : page.uncheckedMerges}
      columns=${columns} rowKey=${keyOf} empty=${announced ? shown.empty : noneAnnounced()} />
    ${shown === UNCHECKED && unchecked > 0 && html`<${WhatWouldCheck} ...${{ address, orgId, scope, sought }}
      rows=${[...why.values()]} turn=${reviews.turn} />`}
  <//>`;
}

/**
 * The plan below the merges: unfolded by a click, as it takes room; of one commit with what to do about it. `rows`: the merges
 * that are shown, with their causes; `sought`: the commit that a click led to.
 */
function WhatWouldCheck({ address, rows, sought, ...asked }) {
  const plan = address.query.get("merges.plan");
  const sha = plan === ALL ? null : plan;
  const title = useRef(null);
  useEffect(() => {
    if (!sought) return;
    title.current.scrollIntoView({ block: "center" });
    title.current.focus({ preventScroll: true });
  }, [sought]);
  const toggle = () => change({ "merges.plan": plan ? null : ALL }, { replace: true });
  const showAllOf = () => {
    title.current.focus(); // the button goes away
    change({ "merges.plan": ALL });
  };
  const toDo = new Set(rows.filter((row) => row.sha === sha).map((row) => `${row.causeText}. ${row.toDo}.`));
  return html`<h3><button type="button" class="fold" ref=${title} aria-expanded=${plan ? "true" : "false"} onClick=${toggle}>Runs that
      would check ${sha ? short(sha) : "them"}</button></h3>
    ${sha && [...toDo].map((text) => html`<p key=${text}>${text}</p>`)}
    ${plan && html`<${Plan} ...${asked} sha=${sha} />`}
    ${sha && html`<p><button type="button" onClick=${showAllOf}>Show the runs for all merges</button></p>`}`;
}

/** Whether a commit is in several rows, one for each of its products. */
function namesTwice(rows) {
  return new Set(rows.map(({ repoKey, sha }) => `${repoKey} ${sha}`)).size < rows.length;
}

function keyOf({ repoKey, suite, sha }) {
  return `${repoKey} ${suite} ${sha}`;
}

/** The rows that are shown, each with its cause, by their key; none as long as there is no answer. */
function useCauses({ address, orgId, scope, reviews, figures, on }) {
  const { plain, query } = tableState("merges", address.query);
  const path = on && !plain ? `/api/orgs/${orgId}/ci-analysis/unchecked-merges` : null;
  const { data } = useAnswer(path, { ...scope, ...query }, reviews.turn);
  const rows = plain ? figures.data?.uncheckedMerges : data;
  return new Map(rows?.items.map((row) => [keyOf(row), row]));
}

/** Why a merge is unchecked, with a link to the run that shows it, and its box; and one to what would check it. */
function cause({ address, orgId, show, row }) {
  if (!row) return html`<span class="why">\u00a0<span class="under">\u00a0</span></span>`;
  const words = CAUSES[row.cause] ?? row.causeText;
  const shown = row.run ? html`<a href=${addressOf("run", { orgId, runId: row.run.runRecordId })}>${words}</a>` : words;
  const others = row.otherBoxes.length ? `; also on ${row.otherBoxes.join(", ")}` : "";
  const title = row.run ? `${row.causeText}: run ${row.run.runId} on ${row.run.boxKey}${others}` : row.causeText;
  const plan = addressOf("metrics", { orgId }, { ...Object.fromEntries(address.query), "merges.plan": row.sha });
  const follow = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // in another tab
    event.preventDefault();
    show(row.sha);
  };
  return html`<span class="why" title=${title}>${shown}
    <span class="under">${row.run && html`on <${BoxLink} plain boxKey=${row.run.boxKey} orgId=${orgId} />
      ${andOthers(row.otherBoxes, orgId)} · `}
      <a class="plain" href=${plan} onClick=${follow} aria-label=${`What to do about ${short(row.sha)}`}>what to do</a></span></span>`;
}

/** The boxes beside the first one, in one line: a single one by its name, more as their number. */
function andOthers(boxKeys, orgId) {
  if (boxKeys.length === 0) return null;
  if (boxKeys.length > 1) return ` and ${boxKeys.length} more boxes`;
  return html` and <${BoxLink} plain boxKey=${boxKeys[0]} orgId=${orgId} />`;
}

function noneAnnounced() {
  return html`No merge was announced in this period. A job that needs no hardware announces them: <code>hwci merge-announce</code>`;
}

function Choice({ shown, counts }) {
  return html`<fieldset class="choice of-section">
    <legend class="unseen">Merges</legend>
    ${counts.map(([one, number]) => html`<label key=${one.path}>
      <input type="radio" name="merges" checked=${one === shown}
        onChange=${() => change({ merges: one.value, "merges.page": null })} />
      <span>${one.short} (${count(number)})</span>
    </label>`)}
  </fieldset>`;
}

/**
 * A commit with a link to its runs, which may show why none counts: no hardware was reached, or no test ran (its place
 * stays where there is no run, as that is known later); and one to the CI job that announced it.
 */
function commit(orgId, { repoKey, sha, ciUrl, subject }, why) {
  return html`<${Sha} sha=${sha} repo=${repoKey} />${" "}
    ${why?.cause === NOTHING_RAN
      ? html`<span class="in-its-place" aria-hidden="true">runs</span>`
      : html`<a class="plain" href=${addressOf("runs", { orgId }, { repoKey, sha })} aria-label=${`Runs on ${short(sha)}`}>runs</a>`}
    ${ciUrl && html` <${Outside} href=${ciUrl}>announced<//>`}
    <${SubjectLine} subject=${subject ?? why?.subject} repo=${repoKey} />`;
}

/** The subject of a commit, in one line: that of an unchecked merge comes with its cause, and the row must not grow. */
function SubjectLine({ subject, repo }) {
  if (!subject) return html`<span class="under one-line">\u00a0</span>`;
  return html`<span class="under one-line" title=${subject}><${Subject} text=${subject} repo=${repo} /></span>`;
}

/** A push that held the merge may have been tested at a later commit; for an Unassigned one the run has the product. */
function checkedBy(orgId, { repoKey, suite, sha, firstRun: run }) {
  return html`<${RunLink} run=${run} orgId=${orgId} />
    ${run.sha !== sha && html` <span class="unbroken">at <${Sha} sha=${run.sha} repo=${repoKey} /></span>`}
    <span class="under">${suite === null && `${run.suite} · `}<${BoxLink} plain boxKey=${run.boxKey} orgId=${orgId} />
      ${" "}· <${Time} at=${run.startedAt} /></span>`;
}
