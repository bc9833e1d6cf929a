// SPDX-License-Identifier: Apache-2.0
// The rows of a table, with headings that sort. On a narrow screen each row is drawn as a card, which
// takes away what its elements mean to a screen reader: their roles give that back.

import { html, useEffect, useRef } from "../../html.js";
import { titleOf } from "../section.js";

const DIRECTIONS = { "": "none", up: "ascending", down: "descending" };

/**
 * Rows under their headings. `columns`: `{key, title, cell(row), sort?, own?, numeric?, words?, name?, fixed?, fields?}`,
 * `sort` being the API's name of the column where it sorts by it; `own`: "up" or "down" for the column
 * whose order the rows have unless asked; `words`: not broken within a word, `name`: only where no other
 * place is left; by it, or one that is `fixed`, a row is known (`columns.js`); `fields`: those of a row that it tells,
 * where `key` is not their name. `sort`: the order asked for,
 * `onSort(sort)`: another one is wanted.
 */
export function Rows({ columns, rows, rowKey, below = (_row) => null, label, busy, sort, onSort }) {
  const focus = useFocusPassedOn(rows);
  const scroll = useRoom();
  return html`<div class="table-scroll" ref=${scroll} tabindex="0" role="region" aria-label=${label} ...${focus}>
    <table role="table" aria-busy=${busy ? "true" : "false"}>
      <thead role="rowgroup"><tr role="row">${columns.map(
        (column) => html`<${Heading} key=${column.key} column=${column} sort=${sort} onSort=${onSort} />`,
      )}</tr></thead>
      <tbody role="rowgroup">${rows.map(
        (row) => html`<${Row} key=${rowKey(row)} row=${row} columns=${columns} below=${below(row)} />`,
      )}</tbody>
    </table>
  </div>`;
}

/** A table that fits needs no scrolling of its own, in which its headings could not stay in sight. */
function useRoom() {
  const scroll = useRef(null);
  useEffect(() => {
    const room = scroll.current;
    const table = room.firstElementChild;
    const sizes = new ResizeObserver(() => room.classList.toggle("fits", table.offsetWidth <= room.clientWidth));
    sizes.observe(room);
    sizes.observe(table);
    return () => sizes.disconnect();
  }, []);
  return scroll;
}

function Row({ row, columns, below }) {
  return html`
    <tr role="row">${columns.map(
      (column) => html`<td role="cell" key=${column.key} class=${kindOf(column)} data-title=${column.title}>${column.cell(row)}</td>`,
    )}</tr>
    ${below && html`<tr role="row" class="below"><td role="cell" colspan=${columns.length}>${below}</td></tr>`}
  `;
}

/**
 * A row that goes away with the focus in it gives it to the row that takes its place, the last one to
 * the title of its section. Return the references that a table needs for that.
 */
function useFocusPassedOn(rows) {
  const held = useRef(null);
  const passOn = () => {
    const { row, place, body, section } = held.current ?? {};
    if (!row || row.isConnected || document.activeElement !== document.body) return;
    held.current = null;
    const next = body.isConnected && body.rows[Math.min(place, body.rows.length - 1)];
    const taker = (next && /** @type {HTMLElement} */ (next).querySelector("button, a[href]")) || (section && titleOf(section));
    taker?.focus({ preventScroll: true });
  };
  useEffect(passOn, [rows]);
  useEffect(() => passOn, []);
  return {
    onFocusIn: ({ target }) => {
      const row = target.closest("tbody > tr");
      held.current = row && { row, place: row.sectionRowIndex, body: row.parentElement, section: row.closest("section") };
    },
    onFocusOut: ({ relatedTarget }) => {
      if (relatedTarget) held.current = null;
    },
  };
}

function kindOf({ numeric, words, name }) {
  return numeric ? "number" : words ? "words" : name ? "name" : undefined;
}

function Heading({ column, sort, onSort }) {
  const kind = kindOf(column);
  const direction = directionOf(column, sort);
  const arrow = html`<span class=${`arrow ${direction}`} aria-hidden="true"></span>`;
  if (!column.sort || !onSort) {
    return html`<th role="columnheader" scope="col" class=${kind} aria-sort=${direction ? DIRECTIONS[direction] : undefined}>
      ${column.title}${direction && arrow}
    </th>`;
  }
  const press = () => onSort(nextSort(column, sort));
  return html`<th role="columnheader" scope="col" class=${kind} aria-sort=${DIRECTIONS[direction]}>
    <button type="button" class="sort" onClick=${press}>${column.title}${arrow}</button>
  </th>`;
}

function directionOf(column, sort) {
  if (!sort) return column.own ?? "";
  return sort === column.sort ? "up" : sort === `-${column.sort}` ? "down" : "";
}

/**
 * The order after a click. Numbers largest first, names from A, then the other way round; the third click
 * restores the table's own order. The column of that order has only this and its reverse.
 */
function nextSort(column, sort) {
  const [up, down] = [column.sort, `-${column.sort}`];
  if (column.own) return directionOf(column, sort) !== column.own ? null : column.own === "down" ? up : down;
  const order = column.numeric ? [down, up, null] : [up, down, null];
  return order[(order.indexOf(sort ?? null) + 1) % order.length];
}
