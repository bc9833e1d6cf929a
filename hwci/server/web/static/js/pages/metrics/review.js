// SPDX-License-Identifier: Apache-2.0
// Confirm, Dismiss and Reset in the tables of resolved failures (spec, "Review of a resolved failure").
// The row shows the answer of the API, then the whole page is asked for again.

import { counted } from "../../format.js";
import { html, useEffect, useRef, useState } from "../../html.js";
import { fittingActions, review } from "../../parts/reviews/review.js";
import { useTogether } from "../../parts/reviews/together.js";
import { classText } from "../../parts/values/words.js";

const SHIFTED_MILLISECONDS = 1_000;

/**
 * The reviews of a page. Return `{may, turn, message, renew(), entryOf(row), review(row, action), together, isSettled()}`:
 * `together` reviews several failures as one, unless the rows have just moved (`isSettled`); an entry is
 * what happens to a row, `{doing, row, fault}`; `turn` counts how often all had to be asked for again; `message`
 * tells what happened last, and offers to take it back.
 */
export function useReviews(orgId, page, may, me) {
  const [entries, setEntries] = useState({});
  const [turn, setTurn] = useState(0);
  const [message, setMessage] = useState(null);
  const { shifted, isSettled } = useShifting();
  // The new page holds the answer.
  useEffect(() => {
    setEntries((was) => Object.fromEntries(Object.entries(was).filter(([, entry]) => !entry.row)));
    if (message) shifted();
  }, [page.data]);
  const put = (id, entry) => setEntries((was) => ({ ...was, [id]: entry }));
  const renew = () => {
    page.again();
    setTurn((was) => was + 1);
  };
  const changed = (_key, items, isUndo) => {
    const text = isUndo ? "The review is taken back." : `${counted(items.length, "failure")} reviewed.`;
    setMessage({ text, undoes: !isUndo });
    renew();
  };
  const together = useTogether({ orgId, me, changed, passed: renew });
  const act = async (row, action) => {
    if (!isSettled()) return;
    put(row.id, { doing: action });
    setMessage(null);
    try {
      const answer = await review(orgId, row.id, action);
      put(row.id, { doing: action, row: answer });
      setMessage({ text: messageOf(answer), reviewed: answer.review && answer });
      renew();
    } catch (fault) {
      put(row.id, { fault });
      if (fault.status !== 409 && action !== "settle") return;
      setMessage({ text: `${row.testId} on ${row.boxKey}: ${fault.message}` }); // its row may go away
      renew(); // somebody else reviewed it first, or one step of two is done
    }
  };
  const shown = message && html`${message.text} ${message.reviewed && html`<button type="button"
    aria-label=${`Reset ${message.reviewed.testId} on ${message.reviewed.boxKey}`}
    onClick=${stays(() => act(message.reviewed, "reset"))}>Reset</button>`}
    ${message.undoes && html`<button type="button" onClick=${stays(together.undo)}>Undo</button>`}`;
  return { may, turn, message: shown, renew, review: act, together, isSettled, entryOf: (row) => entries[row.id] ?? {} };
}

/** Give the message the focus before its button goes away. */
function stays(act) {
  return ({ currentTarget }) => {
    currentTarget.closest(".toast").focus({ preventScroll: true });
    act();
  };
}

/**
 * Ignore a second click just after a review: the rows have moved up, and it would review another failure. Clicks
 * count again once the pointer has moved, or after a while.
 */
function useShifting() {
  const at = useRef(null);
  useEffect(() => {
    const settle = () => (at.current = null);
    const stop = new AbortController();
    for (const kind of ["pointermove", "keydown"]) window.addEventListener(kind, settle, { signal: stop.signal });
    return () => stop.abort();
  }, []);
  return {
    shifted: () => (at.current = performance.now()),
    isSettled: () => at.current === null || performance.now() - at.current >= SHIFTED_MILLISECONDS,
  };
}

/** The columns of a table whose rows can be reviewed: Status, and the actions for reviewers. */
export function reviewColumns(reviews) {
  const status = { key: "status", title: "Status", words: true, cell: (row) => (reviews.entryOf(row).row ?? row).status };
  const actions = { key: "review", title: "Review", cell: (row) => html`<${Actions} row=${row} reviews=${reviews} />` };
  return reviews.may ? [status, actions] : [status];
}

function Actions({ row, reviews }) {
  const { doing, fault } = reviews.entryOf(row);
  const cell = useRef(null);
  const pressed = useRef(false);
  useEffect(() => {
    // The button that was pressed may be of no use to the row any more.
    if (pressed.current && document.activeElement === document.body) cell.current.querySelector("button")?.focus();
  });
  const press = (action) => {
    if (doing) return;
    pressed.current = true;
    reviews.review(row, action.name);
  };
  const leave = ({ relatedTarget }) => {
    if (relatedTarget) pressed.current = false;
  };
  return html`<div class="actions" ref=${cell} onFocusOut=${leave}>
    ${fittingActions(row).map((action) => html`<button key=${action.name} type="button" aria-disabled=${doing ? "true" : undefined}
      aria-label=${`${action.title} ${row.testId} on ${row.boxKey}`} onClick=${() => press(action)}>
      ${doing === action.name ? action.doing : action.title}
    </button>`)}
    ${fault && html`<p class="fault" role="alert">${fault.message}
      ${fault.requestId && html` <span class="request">Request ${fault.requestId}</span>`}</p>`}
  </div>`;
}

function messageOf(row) {
  const name = `${row.testId} on ${row.boxKey}`;
  if (row.label !== "resolved") return `${name}: the review is removed; it is now ${row.label === "flake" ? "a flake" : "pending"}.`;
  if (!row.review) return `${name}: the automatic label is restored; it counts as ${classText(row.class)}.`;
  return row.review.action === "confirm"
    ? `${name} is counted as a real firmware bug, reviewed by ${row.status}.`
    : `${name} is dismissed, reviewed by ${row.status}.`;
}
