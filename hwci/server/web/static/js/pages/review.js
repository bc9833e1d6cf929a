// SPDX-License-Identifier: Apache-2.0
// The inbox of reviews: resolved failures that nobody reviewed, a row for each cause, ambiguous ones first; or in its place
// those that somebody did, to be decided anew. Keys go through it; the list and the row that is looked at are in the
// address. What a review takes out of the former stays in its place until the next visit; a Reset takes it out of the latter.

import { addressOf, change } from "../address.js";
import { get } from "../api.js";
import { useAnswer } from "../asking.js";
import { count, counted, sentence } from "../format.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { useProducts } from "../parts/values/links.js";
import { NoReport } from "../parts/notices/no_report.js";
import { Empty, Failed, Waiting } from "../parts/notices/notice.js";
import { isAdmin } from "../parts/frame/roles.js";
import { Periods, Products, UpToNow, scopeOf, severalRepositories, takenAlong } from "../parts/frame/scope.js";
import { Tools, WORTH_A_SEARCH, noMatch, tableState } from "../parts/table/table.js";
import { useDraft } from "../parts/form/draft.js";
import { Key } from "../parts/reviews/key.js";
import { Refused } from "../parts/reviews/refused.js";
import { CONFIRM, MADE, RESET, UNDO } from "../parts/reviews/review.js";
import { useShifting } from "../parts/reviews/shifting.js";
import { LAST, useTogether } from "../parts/reviews/together.js";
import { useTitle } from "../parts/frame/title.js";
import { useWaiting } from "../parts/frame/waiting.js";
import { TurnOn } from "../parts/notices/turn_on.js";
import { ExactTimes } from "../parts/values/values.js";
import { causeName } from "../parts/values/cause_name.js";
import { Row } from "./review/row.js";

const ASKED = 100; // the most that the API gives at once
const DISMISS = "dismiss";
const KEYS = { next: "j", previous: "k", note: "n", [CONFIRM]: "c", [DISMISS]: "d", [UNDO]: "u" };
const MOVES = ["next", "previous"]; // what has no button that its key could stand at

const TO_REVIEW = {
  name: null,
  title: "To review",
  asks: { toReview: true },
  holds: ({ failures }) => failures.some(({ review }) => !review),
};
const REVIEWED = {
  name: "reviewed",
  title: "Reviewed",
  asks: { reviewed: true },
  holds: ({ failures }) => failures.some(({ review }) => review),
};

/** The page. */
export function Review({ address, orgId, organization, me }) {
  const scope = scopeOf(address.query);
  const products = useProducts(orgId, organization?.ciMetricsEnabled).data;
  const path = `/api/orgs/${orgId}/ci-analysis/causes`;
  const asked = tableState("review", address.query);
  const list = address.query.get("list") === REVIEWED.name ? REVIEWED : TO_REVIEW;
  const query = { ...scope, ...list.asks, limit: ASKED, search: asked.search || null };
  const answer = useAnswer(organization?.ciMetricsEnabled ? path : null, query);
  const isThere = answer.data && me;
  const [waiting, setLeft] = useState(0);
  const left = isThere ? waiting : 0;
  useWaiting(orgId, isThere && list === TO_REVIEW && !asked.search ? left : undefined);
  useTitle(left > 0 ? `Review (${count(left)})` : "Review");
  return html`
    <div class="page-head">
      <h1>Review${left > 0 && html` <span class="total" title="Causes to review">${count(left)}</span>`}</h1>
      <${UpToNow} address=${address} scope=${scope} />
      <${ExactTimes} />
      <${Lists} list=${list} />
      <${Products} products=${products} scope=${scope} several=${severalRepositories(products)} />
      <${Periods} days=${scope.days} />
    </div>
    ${organization?.ciMetricsEnabled === false && html`<${TurnOn} orgId=${orgId} />`}
    ${answer.error && html`<${Failed} error=${answer.error} again=${answer.again} table="review">
      ${answer.error.status === 404 && html`<p><a href=${addressOf("review", { orgId }, { days: scope.days })}>Show all products</a></p>`}
    <//>`}
    ${organization?.ciMetricsEnabled && !isThere && !answer.error && html`<${Waiting} />`}
    ${isThere && (asked.search || answer.data.total > WORTH_A_SEARCH) && html`<${Tools} name="review" label="causes"
      ...${{ asked, total: null, busy: answer.loading }} />`}
    ${isThere && html`<${Inbox} key=${answer.of} ...${{ address, orgId, me, path, query, list, search: asked.search, setLeft }}
      found=${answer.data} products=${products} may=${isAdmin(organization)} />`}
  `;
}

function Lists({ list }) {
  return html`<fieldset class="choice">
    <legend class="unseen">Causes</legend>
    ${[TO_REVIEW, REVIEWED].map((one) => html`<label key=${one.title}>
      <input type="radio" name="list" checked=${one === list} onChange=${() => change({ list: one.name, cause: null })} />
      <span>${one.title}</span>
    </label>`)}
  </fieldset>`;
}

/** Why there is no cause, and where to look next. */
function nothing(list, orgId, products) {
  const to = (page, words) => html`<a href=${addressOf(page, { orgId }, takenAlong(page, orgId))}>${words}</a>`;
  if (products?.length === 0) return html`<${NoReport} orgId=${orgId} />`;
  if (list === REVIEWED) return "No failure of this period was reviewed.";
  return html`Nothing to review: no resolved failure of this period is without a review. Tests that still fail are on the page of
    ${" "}${to("metrics", "metrics")}.`;
}

function Inbox({ address, orgId, me, path, query, list, search, setLeft, found, products, may }) {
  const [causes, setCauses] = useState(found.items);
  const more = useMore({ path, query, list, found, causes, setCauses });
  const left = more.total - causes.filter((one) => !list.holds(one)).length;
  const waiting = list === TO_REVIEW ? left : 0;
  useEffect(() => setLeft(waiting), [waiting]);
  const [message, setMessage] = useState("");
  const [next, setNext] = useState(0); // counts how often another cause is to be asked for again
  const replace = (key, change_) => setCauses((was) => was.map((one) => (one.id === key ? change_(one) : one)));
  const draft = useDraft(me);
  const asked = address.query.get("cause");
  const listed = causes.filter(({ isGone }) => !isGone);
  const named = listed.find(({ failures }) => failures.some(({ id }) => id === asked)); // the first one names its cause
  const open = named ?? listed[0];
  const [shown, toast] = [useRef(null), useRef(null)];
  const wanted = useRef(null); // the row that gets the focus once it is drawn
  const writes = useRef(null); // the cause that a mouse unfolded: its note gets the focus
  const show = (cause, event) => {
    if (!cause) return;
    const byMouse = event?.pointerType === "mouse" && may;
    wanted.current = byMouse ? null : cause.id;
    writes.current = byMouse ? cause.id : null;
    change({ cause: cause.id }, { replace: true });
  };
  const at = listed.indexOf(open);
  const { shifted, isSettled } = useShifting();
  const together = useTogether({
    orgId,
    me,
    changed: ({ key, action, written, words }, items) => {
      const now = new Map(items.map((one) => [one.id, one]));
      const renewed = (one) => {
        const failures = one.failures.map((failure) => now.get(failure.id) ?? failure);
        return { ...one, failures, isGone: action === RESET && list === REVIEWED && !list.holds({ failures }) };
      };
      const cause = renewed(causes.find(({ id }) => id === key));
      replace(key, renewed);
      shifted();
      (action === UNDO ? draft.giveBack : draft.clear)(key, written);
      // The row of what was made stays in view.
      setMessage(action in MADE ? sentence(words) : `${causeName(cause)}: ${words}`);
      const others = listed.filter(({ id }) => id !== key);
      if (cause.isGone) show(others[at] ?? others[at - 1]);
      else show(action in MADE && key === open.id ? (listed[at + 1] ?? cause) : cause);
      if (cause.isGone && others.length === 0) toast.current.focus();
    },
    passed: () => setNext((was) => was + 1),
  });
  const review = (...asked) => {
    if (!isSettled()) return;
    if (together.review(...asked) && !together.stateOf(LAST).lost) setMessage(""); // of the review before
  };
  useFresh({ path, query, list, next, cause: open ?? causes[0], replace });
  useKeys({
    [KEYS.next]: () => show(listed[at + 1]),
    [KEYS.previous]: () => show(listed[at - 1]),
    ...(may && open && {
      [KEYS.note]: () => shown.current.querySelector("[aria-expanded=true]").closest("li").querySelector("input").focus(),
      [KEYS[CONFIRM]]: () => review(open.id, open.failures, CONFIRM, draft.of(open.id)),
      [KEYS[DISMISS]]: () => review(open.id, open.failures, DISMISS, draft.of(open.id)),
    }),
    ...(may && { [KEYS[UNDO]]: () => together.undo?.() }),
  });
  // Before the browser draws: what is typed next is not taken away from the field that it was meant for.
  useLayoutEffect(() => {
    if (wanted.current !== open?.id) return;
    wanted.current = null;
    const row = shown.current.querySelector("[aria-expanded=true]");
    row?.closest("li").scrollIntoView({ block: "nearest" }); // all of it, above the message
    row?.focus();
  }, [open?.id, causes]);
  const none = html`<${Empty}>${search ? noMatch("cause", search) : nothing(list, orgId, products)}<//>`;
  if (causes.length === 0) return html`<section class="part">${none}</section>`;
  const gone = causes.length - listed.length;
  return html`<section class="part inbox" aria-label=${list.title}>
    ${!open && none}
    ${open && html`<p class="quiet"><span role="status">
      ${list === REVIEWED ? `${counted(more.total - gone, "cause")}, the last review first` : toReview(causes, more, left)}.</span>
      ${listed.length > 1 && html` <span class="by-key">Keys:
        ${MOVES.map((what) => html` <span class="unbroken"><kbd>${KEYS[what]}</kbd> ${what}</span>`)}</span>`}</p>`}
    ${asked && open && !named && !search && html`<p role="status">The cause of this address is not among these: it is
      ${list === REVIEWED && " not"} reviewed, of another period or product, or further below.${" "}
      <a href=${addressOf("failure", { orgId, failureId: asked })}>See its failure</a></p>`}
    <ol ref=${shown}>${listed.map((cause) => html`<${Row} key=${cause.id} open=${cause === open} onOpen=${(event) => show(cause, event)}
      begin=${writes.current === cause.id} keys=${KEYS} ...${{ cause, orgId, together, review, draft, may }} />`)}</ol>
    ${more.left > 0 && html`<p><button type="button" onClick=${more.show}>Show more</button>
      ${" "}<span class="quiet">${counted(more.left, "more cause")}</span></p>`}
    ${more.fault && html`<${Failed} error=${more.fault} />`}
    <div class="toast" role="status" tabindex="-1" ref=${toast}>${message && html`${message} ${together.undo && html`<button type="button"
      aria-keyshortcuts=${KEYS[UNDO]} onClick=${together.undo}>Undo<${Key} of=${KEYS[UNDO]} /></button>`}
      ${" "}<${Refused} ...${{ together, id: LAST, focus: toast }} />`}</div>
  </section>`;
}

/** How many causes are `left` to review. */
function toReview(causes, { total }, left) {
  const waiting = left < total ? `${count(left)} of ${counted(total, "cause")} left to review` : `${counted(total, "cause")} to review`;
  const failures = causes.filter(TO_REVIEW.holds).flatMap((one) => one.failures);
  return failures.some((one) => one.class === "ambiguous") ? `${waiting}, ambiguous ones first` : waiting;
}

/**
 * The causes beyond those that are shown. What a review took out of the list is no longer in that of the API, so that those
 * that are left come first there, and the next ones after as many: in one page of it and the one after.
 */
function useMore({ path, query, list, found, causes, setCauses }) {
  const [total, setTotal] = useState(found.total);
  const [fault, setFault] = useState(null);
  const busy = useRef(false);
  const show = async () => {
    if (busy.current) return;
    busy.current = true;
    try {
      const waiting = causes.filter(list.holds).length;
      const page = Math.floor(waiting / ASKED) + 1;
      const lists = await Promise.all([page, page + 1].map((one) => get(path, { ...query, page: one })));
      const known = new Set(causes.map(({ id }) => id));
      setCauses((was) => [...was, ...lists.flatMap(({ items }) => items).filter(({ id }) => !known.has(id))]);
      setTotal(lists[0].total + causes.length - waiting);
      setFault(null);
    } catch (error) {
      setFault(error);
    }
    busy.current = false;
  };
  return { total, left: total - causes.length, show, fault };
}

/** Ask how the failures of a cause are now, whoever reviewed them. */
function useFresh({ path, query, list, next, cause, replace }) {
  const all = { ...query, toReview: null, reviewed: null, search: cause?.failures[0].firstFailure.sha };
  const { data } = useAnswer(next ? path : null, all, next);
  useEffect(() => {
    if (!data) return;
    const now = new Map(data.items.flatMap(({ failures }) => failures).map((one) => [one.id, one]));
    replace(cause.id, (one) => {
      const failures = one.failures.map((failure) => now.get(failure.id) ?? failure);
      return { ...one, failures, isGone: one.isGone && !list.holds({ failures }) };
    });
  }, [data]);
}

/** Keys of the page; not while somebody writes, and none of the browser's. */
function useKeys(actions) {
  const latest = useRef(actions);
  latest.current = actions;
  // Before the page is seen, so that the first key counts.
  useLayoutEffect(() => {
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (event.target.closest?.("input, textarea, select")) return;
      const act = latest.current[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}
