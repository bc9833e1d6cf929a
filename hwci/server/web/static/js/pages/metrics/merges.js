// SPDX-License-Identifier: Apache-2.0
// The table "Merges not checked on hardware" (spec, "Metrics page (dashboard)"), and in its place, when it is
// asked for, that of the merges that were checked, each with the run that did it first. Why a merge is unchecked is
// asked beside the table, which stands without it.

import { addressOf, change } from "../../address.js";
import { useAnswer } from "../../asking.js";
import { short } from "../../format.js";
import { html } from "../../html.js";
import { Outside } from "../../parts/values/outside.js";
import { BoxLink } from "../../parts/values/past.js";
import { productColumn } from "../../parts/frame/scope.js";
import { later } from "../../parts/later.js";
import { Section } from "../../parts/section.js";
import { PagedTable, showAll, tableState } from "../../parts/table/table.js";
import { Sha, Subject, Time } from "../../parts/values/values.js";
import { RunLink } from "../../parts/values/words.js";
import { Choice } from "./choice.js";
import { NEVER_REACHED, NOTHING_TO_COUNT, TITLES } from "../../words.js";

const UNCHECKED = {
  value: null,
  title: TITLES.uncheckedMerges,
  short: "Not checked",
  label: "Merges, not checked",
  path: "unchecked-merges",
  empty: "Every merge of this period ran on hardware.",
};
const CHECKED = {
  value: "checked",
  title: TITLES.mergesChecked,
  short: "Checked",
  label: "Merges, checked",
  path: "checked-merges",
  empty: "No merge of this period ran on hardware. “Not checked” lists them, and “runs” what ran on the commit of each.",
};

const Plan = later(() => import("./plan.js"), "Plan");
const NOTHING_RAN = "nothing_ran";
const TO_DO = "merges.toDo"; // in the address, the row that says what to do

// So short that each is one line: the row must not grow when its cause comes.
const CAUSES = {
  hardware_not_reached: NEVER_REACHED.toLowerCase(),
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
  const unfolded = shown === UNCHECKED ? address.query.get(TO_DO) : null;
  const below = (row) => unfolded === keyOf(row) && why.has(unfolded) &&
    html`<${ToDo} row=${why.get(unfolded)} ...${{ orgId, scope, turn: reviews.turn }} />`;
  const choose = (value) => change({ merges: value, "merges.page": null });
  const columns = [
    { key: "sha", title: "Commit", sort: "sha", cell: (row) => commit(orgId, row, why.get(keyOf(row))) },
    ...productColumn(page.product, several),
    { key: "branch", title: "Branch", sort: "branch", cell: (row) => row.branch },
    { key: "mergedAt", title: "Merged", sort: "mergedAt", own: "down", cell: (row) => html`<${Time} at=${row.mergedAt} />` },
    shown === CHECKED
      ? { key: "firstRun", title: "First checked by", words: true, cell: (row) => checkedBy(orgId, row) }
      : { key: "why", title: "Why", cell: (row) => cause({ address, orgId, unfolded, row: why.get(keyOf(row)) }) },
  ];
  return html`<${Section} title=${shown.title} anchor="merges">
    ${namesTwice(page.uncheckedMerges.items) && html`<p class="quiet">A merge that was announced for two products counts twice.</p>`}
    ${announced > 0 && html`<${Choice} name="merges" legend="Merges" shown=${shown.value} choose=${choose}
      kinds=${[{ ...UNCHECKED, total: unchecked }, { ...CHECKED, total: checked }]} />`}
    <${PagedTable} folds key=${shown.path} name="merges" label=${shown.label} thing="merge" path=${`${base}/${shown.path}`}
      turn=${reviews.turn} query=${scope} address=${address} first=${shown === CHECKED ? undefined : page.uncheckedMerges}
      columns=${columns} rowKey=${keyOf} unfolds=${TO_DO} below=${below} empty=${announced ? shown.empty : noneAnnounced()} />
    ${shown === UNCHECKED && unchecked > 0 && html`<${WhatWouldCheck} ...${{ address, orgId, scope }}
      turn=${reviews.turn} />`}
  <//>`;
}

/** The runs for all merges, below them: unfolded by a click, as they take room. */
function WhatWouldCheck({ address, ...asked }) {
  const open = address.query.get("merges.plan") === "open";
  const toggle = () => change({ "merges.plan": open ? null : "open" }, { replace: true });
  return html`<h3><button type="button" class="fold" aria-expanded=${open ? "true" : "false"} onClick=${toggle}>Runs that would check
      them</button></h3>
    ${open && html`<${Plan} ...${asked} />`}`;
}

/** What to do about one merge, and the runs that would check it. */
function ToDo({ row: { repoKey, suite, sha, causeText, toDo }, scope, ...asked }) {
  const product = suite === null ? {} : { repoKey, suite };
  return html`<div class="to-do"><p>${causeText}. ${toDo}.</p><${Plan} ...${asked} scope=${{ ...scope, ...product, sha }} /></div>`;
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

/**
 * Why a merge is unchecked, with a link to the run that shows it, or to all on its commit where several boxes have one there;
 * and these boxes. And a link that unfolds what to do.
 */
function cause({ address, orgId, unfolded, row }) {
  if (!row) return html`<span class="why">\u00a0<span class="under">\u00a0</span></span>`;
  const words = CAUSES[row.cause] ?? row.causeText;
  const shown = row.run ? html`<a href=${toRuns(row, orgId)}>${words}</a>` : words;
  const others = row.otherBoxes.length ? `; also on ${row.otherBoxes.join(", ")}` : "";
  const title = row.run ? `${row.causeText}: run ${row.run.runId} on ${row.run.boxKey}${others}` : row.causeText;
  const open = unfolded === keyOf(row);
  const turned = { [TO_DO]: open ? null : keyOf(row) };
  const follow = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // in another tab
    event.preventDefault();
    change(turned, { replace: true });
  };
  return html`<span class="why" title=${title}>${shown}
    <span class="under">${row.run && html`on ${onBoxes(row, orgId)} · `}
      <a class="plain" href=${addressOf("metrics", { orgId }, { ...Object.fromEntries(address.query), ...turned })} onClick=${follow}
        aria-expanded=${open ? "true" : "false"} aria-label=${`What to do about ${short(row.sha)}`}>what to do</a></span></span>`;
}

/** The boxes in one line: two by their names, of more the first and how many others. */
function onBoxes({ run, otherRuns: others }, orgId) {
  const named = ({ boxKey }) => html`<${BoxLink} plain boxKey=${boxKey} orgId=${orgId} />`;
  if (others.length === 0) return named(run);
  return html`${named(run)} and ${others.length === 1 ? named(others[0]) : `${others.length} more boxes`}`;
}

/** The runs of several boxes on its commit, of one product if all that tell it are; else the one that tells it. */
function toRuns({ repoKey, run: { sha, suite, runRecordId }, otherRuns: others }, orgId) {
  const isOne = others.length > 0 && others.every((one) => one.sha === sha); // a push that held the merge has another
  if (!isOne) return addressOf("run", { orgId, runId: runRecordId });
  return addressOf("runs", { orgId }, { repoKey, suite: others.every((one) => one.suite === suite) ? suite : null, sha });
}

function noneAnnounced() {
  return html`${NOTHING_TO_COUNT.mergesChecked}. A job that needs no hardware announces them: <code>hwci merge-announce</code>`;
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
