// SPDX-License-Identifier: Apache-2.0
// The rows of the inbox, the one that is looked at, and the message of the last review. Keys go through it.

import { addressOf, change } from "../../address.js";
import { count, counted, sentence } from "../../format.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../html.js";
import { useDraft } from "../../parts/form/draft.js";
import { useKeys } from "../../parts/frame/keys.js";
import { takenAlong } from "../../parts/frame/scope.js";
import { NoReport } from "../../parts/notices/no_report.js";
import { Empty, Failed } from "../../parts/notices/notice.js";
import { Key } from "../../parts/reviews/key.js";
import { Refused } from "../../parts/reviews/refused.js";
import { CONFIRM, MADE, RESET, UNDO } from "../../parts/reviews/review.js";
import { useShifting } from "../../parts/reviews/shifting.js";
import { LAST, useTogether } from "../../parts/reviews/together.js";
import { noMatch } from "../../parts/table/table.js";
import { causeName } from "../../parts/values/cause_name.js";
import { renewed, useCauses, useFresh } from "./causes.js";
import { REVIEWED, TO_REVIEW } from "./lists.js";
import { Row } from "./row.js";

const DISMISS = "dismiss";
const KEYS = { next: "j", previous: "k", note: "n", [CONFIRM]: "c", [DISMISS]: "d", [UNDO]: "u" };
const MOVES = ["next", "previous"]; // what has no button that its key could stand at

/** The inbox of a list. `found`: its first causes; `setLeft(number)`: so many wait for a review; `may`: the reader may review. */
export function Inbox({ address, orgId, me, path, query, list, search, setLeft, found, products, may }) {
  const held = useCauses({ path, query, list, found });
  const { causes, listed, left, gone, replace, more } = held;
  const waiting = list === TO_REVIEW ? left : 0;
  useEffect(() => setLeft(waiting), [waiting]);
  const looked = useLookedAt({ sought: address.query.get("cause"), causes, listed, may });
  const { open } = looked;
  const reviews = useReviews({ orgId, me, list, held, looked });
  const { together, review, draft } = reviews;
  useFresh({ path, query, list, next: reviews.next, cause: open ?? causes[0], replace });
  useKeys(keysOf({ looked, reviews, may }));
  const none = html`<${Empty}>${search ? noMatch("cause", search) : nothing(list, orgId, products)}<//>`;
  if (causes.length === 0) return html`<section class="part">${none}</section>`;
  return html`<section class="part inbox" aria-label=${list.title}>
    ${!open && none}
    ${open && html`<p class="quiet"><span role="status">
      ${list === REVIEWED ? `${counted(more.total - gone, "cause")}, the last review first` : toReview(causes, more, left)}.</span>
      ${listed.length > 1 && html` <span class="by-key">Keys:
        ${MOVES.map((what) => html` <span class="unbroken"><kbd>${KEYS[what]}</kbd> ${what}</span>`)}</span>`}</p>`}
    ${open && looked.isMissing && !search && html`<${NotAmong} ...${{ list, orgId }} failureId=${looked.sought} />`}
    <ol ref=${looked.shown}>${listed.map((cause) => html`<${Row} key=${cause.id} open=${cause === open}
      onOpen=${(event) => looked.show(cause, event)} begin=${looked.writes === cause.id} keys=${KEYS}
      ...${{ cause, orgId, together, review, draft, may }} />`)}</ol>
    ${more.left > 0 && html`<p><button type="button" onClick=${more.show}>Show more</button>
      ${" "}<span class="quiet">${counted(more.left, "more cause")}</span></p>`}
    ${more.fault && html`<${Failed} error=${more.fault} />`}
    <${Message} ...${reviews} />
  </section>`;
}

function NotAmong({ list, orgId, failureId }) {
  return html`<p role="status">The cause of this address is not among these: it is
    ${list === REVIEWED && " not"} reviewed, of another period or product, or further below.${" "}
    <a href=${addressOf("failure", { orgId, failureId })}>See its failure</a></p>`;
}

function Message({ message, together, toast }) {
  return html`<div class="toast" role="status" tabindex="-1" ref=${toast}>${message && html`${message} ${together.undo && html`<button
    type="button" aria-keyshortcuts=${KEYS[UNDO]} onClick=${together.undo}>Undo<${Key} of=${KEYS[UNDO]} /></button>`}
    ${" "}<${Refused} ...${{ together, id: LAST, focus: toast }} />`}</div>`;
}

/**
 * The cause that is looked at (`open`), by the address or else the first. Return also `show(cause, event)`, which looks at another
 * one, `shown`, a reference to the rows, `writes`, the cause whose note gets the focus, and whether the one that is `sought` is missing.
 */
function useLookedAt({ sought, causes, listed, may }) {
  const shown = useRef(null);
  const wanted = useRef(null); // the row that gets the focus once it is drawn
  const writes = useRef(null); // the cause that a mouse unfolded: its note gets the focus
  const named = listed.find(({ failures }) => failures.some(({ id }) => id === sought)); // the first one names its cause
  const open = named ?? listed[0];
  const show = (cause, event) => {
    if (!cause) return;
    const byMouse = event?.pointerType === "mouse" && may;
    wanted.current = byMouse ? null : cause.id;
    writes.current = byMouse ? cause.id : null;
    change({ cause: cause.id }, { replace: true });
  };
  // Before the browser draws: what is typed next is not taken away from the field that it was meant for.
  useLayoutEffect(() => {
    if (wanted.current !== open?.id) return;
    wanted.current = null;
    const row = shown.current.querySelector("[aria-expanded=true]");
    row?.closest("li").scrollIntoView({ block: "nearest" }); // all of it, above the message
    row?.focus();
  }, [open?.id, causes]);
  const at = listed.indexOf(open);
  const [previous, next] = [listed[at - 1], listed[at + 1]];
  return { open, previous, next, show, shown, writes: writes.current, sought, isMissing: Boolean(sought) && !named };
}

/** Reviews of causes, and the `message` of the last one; `next` counts how often one is to be asked for again. */
function useReviews({ orgId, me, list, held: { causes, listed, replace }, looked: { open, previous, next: after, show } }) {
  const [message, setMessage] = useState("");
  const [next, setNext] = useState(0);
  const toast = useRef(null);
  const draft = useDraft(me);
  const { shifted, isSettled } = useShifting();
  const changed = ({ key, action, written, words }, items) => {
    const withGone = (was) => {
      const now = renewed(was, items);
      return { ...now, isGone: action === RESET && list === REVIEWED && !list.holds(now) };
    };
    const cause = withGone(causes.find(({ id }) => id === key));
    replace(key, withGone);
    shifted();
    (action === UNDO ? draft.giveBack : draft.clear)(key, written);
    setMessage(action in MADE ? sentence(words) : `${causeName(cause)}: ${words}`); // the row of what was made stays in view
    if (!cause.isGone) return show(action in MADE && key === open.id ? (after ?? cause) : cause);
    if (listed.every(({ id }) => id === key)) toast.current.focus();
    else show(key === open.id ? (after ?? previous) : open);
  };
  const together = useTogether({ orgId, me, changed, passed: () => setNext((was) => was + 1) });
  const review = (...job) => {
    if (!isSettled()) return;
    if (together.review(...job) && !together.stateOf(LAST).lost) setMessage(""); // of the review before
  };
  return { together, review, draft, message, next, toast };
}

/** The keys of the inbox, and what each does to the cause that is looked at. */
function keysOf({ looked: { open, previous, next, show, shown }, reviews: { together, review, draft }, may }) {
  const act = (action) => open && (() => review(open.id, open.failures, action, draft.of(open.id)));
  const write = () => shown.current.querySelector("[aria-expanded=true]").closest("li").querySelector("input").focus();
  const moves = [
    { key: KEYS.next, title: "Next cause", act: () => show(next) },
    { key: KEYS.previous, title: "Previous cause", act: () => show(previous) },
  ];
  if (!may) return moves;
  return [
    ...moves,
    { key: KEYS[CONFIRM], title: "Confirm the cause as a firmware bug", act: act(CONFIRM) },
    { key: KEYS[DISMISS], title: "Dismiss the cause: it is no firmware bug", act: act(DISMISS) },
    { key: KEYS.note, title: "Write a note", act: open && write },
    { key: "Ctrl Enter", title: "In a note: confirm" },
    { key: KEYS[UNDO], title: "Undo the last review", act: together.undo },
  ];
}

/** How many causes are `left` to review. */
function toReview(causes, { total }, left) {
  const waiting = left < total ? `${count(left)} of ${counted(total, "cause")} left to review` : `${counted(total, "cause")} to review`;
  const failures = causes.filter(TO_REVIEW.holds).flatMap((one) => one.failures);
  return failures.some((one) => one.class === "ambiguous") ? `${waiting}, ambiguous ones first` : waiting;
}

/** Why there is no cause, and where to look next. */
function nothing(list, orgId, products) {
  const to = (page, words) => html`<a href=${addressOf(page, { orgId }, takenAlong(page, orgId))}>${words}</a>`;
  if (products?.length === 0) return html`<${NoReport} orgId=${orgId} />`;
  if (list === REVIEWED) return "No failure of this period was reviewed.";
  return html`Nothing to review: no resolved failure of this period is without a review. Tests that still fail are on the page of
    ${" "}${to("metrics", "metrics")}.`;
}
