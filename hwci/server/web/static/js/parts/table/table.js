// SPDX-License-Identifier: Apache-2.0
// A table of the API: sorted, searched and turned over by the server, its state in the address
// (`<name>.page`, `<name>.limit`, `<name>.sort`, `<name>.search`, `<name>.rows`). The caller defines the columns.

import { change } from "../../address.js";
import { useAnswer } from "../../asking.js";
import { count, counted } from "../../format.js";
import { html, useEffect, useRef, useState } from "../../html.js";
import { Columns, fieldsNotShown, useShown } from "./columns.js";
import { Empty, Failed, Renewing, Waiting } from "../notices/notice.js";
import { Csv, Foot, lastPage, turnTo } from "./pages.js";
import { Rows } from "./rows.js";

const ROWS = 20; // of a page, unless the address has another number
const PHONE = "(max-width: 40rem)"; // as the style sheets have it
export const FEW = 5; // rows of a table beside others, until all are asked for
export const WORTH_A_SEARCH = 6; // rows: fewer are seen at a glance
const TYPING_PAUSE_MILLISECONDS = 250;

/**
 * Show a paged list of the API. `columns`: as `Rows` takes them; `first`: the first page, when it is known
 * already (`undefined`: ask for it; null: somebody asks); `turn`: a change of it asks again; `held`: a reference
 * to the answer, as `useAnswer` has it; `below(row)`: what stands under a row; `thing`: what a row is,
 * for "3 merges"; `searched`: whether the API searches it; that is offered once there are rows enough;
 * `totalled`: always show how many rows there are; `unknown`: the way out when a filter names what does not exist;
 * `unfolds`: the parameter of the address that has the key of the row that is unfolded, if rows can be;
 * `saves`: `{path, query, total}` of what its file has a row for, if that is not a row of the table;
 * `folds`: it begins with a few rows, and a click shows all; `foldsOnPhone`: only where each row takes half the window.
 */
export function PagedTable(props) {
  const { name, path, query, address, first, turn, held, thing, label, searched = true, totalled, unknown } = props;
  const asked = tableState(name, address.query);
  const known = first !== undefined && asked.plain;
  const answer = useAnswer(known ? null : path, { ...query, ...asked.query }, turn);
  if (held) held.current = answer;
  const list = useKept(known ? first : answer.loading ? null : answer.data);
  // A search that found little does not take its own field away.
  const searchable = useRef(false);
  searchable.current ||= searched && Boolean(asked.search || list?.total >= WORTH_A_SEARCH);
  const wayOut = answer.error?.status === 404 && unknown;
  const fault = answer.error && html`<${Failed} error=${answer.error} again=${answer.again} table=${name}>${wayOut}<//>`;
  if (!list) return fault || html`<${Waiting} />`;
  const busy = answer.loading && !known;
  const failed = !known && answer.error;
  return html`
    ${failed && fault}
    ${(totalled || searchable.current) &&
    html`<${Tools} ...${{ name, label, asked, thing, busy }} searched=${searchable.current} total=${list.total} />`}
    ${!(failed && !answer.data) && html`<${Found} ...${props} asked=${asked} list=${list} busy=${busy} />`}
  `;
}

function Found({ address, asked, list, busy, path, query, folds, foldsOnPhone, unfolds, ...table }) {
  const { name, label, thing, columns, rowKey, below, empty, saves = { path, query, total: list.total } } = table;
  const shown = useShown(name, columns);
  const unfolded = unfolds ? address.query.get(unfolds) : null;
  const wasThere = useRef(null); // it may go, as by a review
  if (list.items.length === 0) return html`<${Nothing} ...${{ name, asked, list, thing, empty }} />`;
  const onSort = (sort) => change({ [`${name}.sort`]: sort, [`${name}.page`]: null });
  const may = folds || (foldsOnPhone && matchMedia(PHONE).matches);
  const few = may && !asked.whole;
  const rows = few ? list.items.slice(0, FEW) : list.items;
  if (rows.some((row) => rowKey(row) === unfolded)) wasThere.current = unfolded;
  return html`
    ${unfolded !== wasThere.current && unfolded && html`<p role="status">The ${thing} of this address is not among these: it is further
      below, of another period or product, or there is none. <button type="button"
        onClick=${() => change({ [unfolds]: null }, { replace: true })}>Leave it out</button></p>`}
    <${Rows} columns=${shown} rows=${rows} rowKey=${rowKey} below=${below} label=${label}
      busy=${busy} sort=${asked.sort} onSort=${onSort} />
    <${Foot} ...${{ name, list, label, rowKey, few }} shown=${rows.length} without=${fieldsNotShown(columns, shown)}
      saves=${{ ...saves, query: { ...saves.query, sort: asked.sort, search: asked.search || null } }}>
      <${Columns} table=${name} columns=${columns} label=${label} />
      ${may && (few || asked.all) && list.total > FEW && html`<${ShowAll} ...${{ name, label, few }} total=${list.total} />`}
    <//>
  `;
}

function ShowAll({ name, label, few, total }) {
  const none = { [`${name}.rows`]: null, [`${name}.page`]: null, [`${name}.limit`]: null };
  return html`<button type="button" aria-pressed=${few ? "false" : "true"} aria-label=${`Show all ${count(total)}: ${label}`}
    onClick=${() => change(few ? showAll(name) : none, { replace: true })}>Show all ${count(total)}</button>`;
}

/** What an address is changed by to show all rows of a table that folds. */
export function showAll(name) {
  return { [`${name}.rows`]: "all" };
}

/**
 * A table without search and pages. `below(row)`: what stands under a row; `all`: the rows that a file of it has;
 * `saves`: what lists them instead, and how many
 * there are.
 */
export function PlainTable({ name, columns, rows, all = rows, saves = ofRows(all), rowKey, below, label }) {
  const shown = useShown(name, columns);
  return html`<${Rows} columns=${shown} rows=${rows} rowKey=${rowKey} below=${below} label=${label} />
    <div class="table-foot"><${Columns} table=${name} columns=${columns} label=${label} />
      <${Csv} ...${saves} ...${{ name, label, rowKey }} shown=${rows.length}
        without=${fieldsNotShown(columns, shown)} /></div>`;
}

function ofRows(rows) {
  return { rows, total: rows.length };
}

/**
 * The state of a table in the address. `plain`: the API need not be asked for other rows than the first; `all`: all are
 * asked for; `whole`: so are some of them that may be among the last.
 */
export function tableState(name, query) {
  const read = (part) => query.get(`${name}.${part}`);
  const [page, limit, sort, search] = ["page", "limit", "sort", "search"].map(read);
  const all = read("rows") === "all";
  const plain = !page && !limit && !sort && !search;
  const whole = Boolean(all || page || limit || search);
  return { sort, search: search ?? "", plain, all, whole, query: { page, limit: limit ?? ROWS, sort, search } };
}

/** Return the last value that was there. */
function useKept(value) {
  const kept = useRef(null);
  if (value) kept.current = value;
  return kept.current;
}

/** The text for a search without results. */
export function noMatch(thing, search) {
  return `No ${thing} matches “${search}”. Part of a name is enough. Clear the search to see all.`;
}

/**
 * The search of a table, unless it is not `searched`, beside how many rows it has (`total`, null where the page says it
 * elsewhere). `asked`: its `tableState`.
 */
export function Tools({ name, label, asked, total, thing, busy, searched = true }) {
  const [text, search] = useTyped(name, asked.search);
  return html`<div class="table-tools">
    ${searched && html`<input type="search" aria-label=${`Search ${label}`} placeholder="Search" value=${text}
      onInput=${search} maxlength="200" />`}
    ${total !== null && html`<span class="quiet" role="status">${counted(total, thing)}</span>`}
    <${Renewing} on=${busy} />
  </div>`;
}

/** The typed text: it goes into the address after a pause, and follows the address when that changes. */
function useTyped(name, searched) {
  const [text, setText] = useState(searched);
  const timer = useRef(null);
  const sent = useRef(searched);
  useEffect(() => {
    if (searched === sent.current) return;
    window.clearTimeout(timer.current);
    sent.current = searched;
    setText(searched);
  }, [searched]);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const send = (value) => {
    // The way back leads to what was there before the search, not through its letters.
    const replace = sent.current !== "";
    sent.current = value;
    change({ [`${name}.search`]: value || null, [`${name}.page`]: null }, { replace });
  };
  const typed = (event) => {
    const { value } = event.target;
    setText(value);
    window.clearTimeout(timer.current);
    if (value.trim() === sent.current) return;
    timer.current = window.setTimeout(() => send(value.trim()), TYPING_PAUSE_MILLISECONDS);
  };
  return [text, typed];
}

function Nothing({ name, asked, list, thing, empty }) {
  if (list.total === 0) return html`<${Empty}>${asked.search ? noMatch(thing, asked.search) : empty}<//>`;
  const toLast = () => turnTo(name, lastPage(list));
  return html`<${Empty}>
    There is no page ${count(list.page)}. <button type="button" onClick=${toLast}>Show the last one</button>
  <//>`;
}
