// SPDX-License-Identifier: Apache-2.0
// What is below a table of the API: how many rows a page has, which page is shown and another to go to, and
// all rows as a file. Pages and their size are in the address.

import { change } from "../../address.js";
import { count, counted } from "../../format.js";
import { html, useEffect, useRef, useState } from "../../html.js";

const SIZES = [20, 50, 100];
const WORTH_A_JUMP = 4; // pages: fewer are a click or two away

/**
 * The foot of a table. `saves`: the path and query that list what its file has, without page and limit, and the total;
 * `shown`: so many rows are; `few`: they are only its first ones; `without`: fields that its file has not; `children`: what
 * shows more of them.
 */
export function Foot({ name, list, label, saves, rowKey, shown, few, without, children }) {
  return html`<div class="table-foot">
    ${children}
    <${Csv} key=${JSON.stringify([saves.path, saves.query])} ...${{ name, label, rowKey, shown, without }} ...${saves} />
    ${!few && html`<${Size} name=${name} list=${list} label=${label} /><${Pages} name=${name} list=${list} label=${label} />`}
  </div>`;
}

/** The number of the last page of a list. */
export function lastPage(list) {
  return Math.max(1, Math.ceil(list.total / list.limit));
}

/** Show another page of a table. */
export function turnTo(name, page) {
  change({ [`${name}.page`]: page === 1 ? null : page });
}

/** How many rows a page has. After a change the first row that was shown is still there. */
function Size({ name, list: { total, limit, page }, label }) {
  if (total <= SIZES[0] && limit === SIZES[0]) return null;
  const offered = SIZES.includes(limit) ? SIZES : [...SIZES, limit].sort((a, b) => a - b);
  const choose = ({ target }) => {
    const size = Number(target.value);
    const first = Math.floor(((page - 1) * limit) / size) + 1;
    change({ [`${name}.limit`]: size === SIZES[0] ? null : size, [`${name}.page`]: first === 1 ? null : first });
  };
  return html`<label>Rows <select aria-label=${`Rows of a page of ${label}`} value=${limit} onChange=${choose}>
    ${offered.map((size) => html`<option key=${size} value=${size}>${size}</option>`)}
  </select></label>`;
}

function Pages({ name, list, label }) {
  const last = lastPage(list);
  if (last === 1) return null;
  return html`<nav class="pages" aria-label=${`Pages of ${label}`}>
    <${Turn} title="Previous" to=${list.page - 1} may=${list.page > 1} name=${name} />
    <span>Page ${count(list.page)} of ${count(last)}</span>
    ${last >= WORTH_A_JUMP && html`<${Jump} name=${name} last=${last} label=${label} />`}
    <${Turn} title="Next" to=${list.page + 1} may=${list.page < last} name=${name} />
  </nav>`;
}

// A button without use is only marked as such, so that it keeps the focus.
function Turn({ title, to, may, name }) {
  return html`<button type="button" aria-disabled=${may ? undefined : "true"} onClick=${() => may && turnTo(name, to)}>${title}</button>`;
}

/** A page by its number; one beyond the last means the last. */
function Jump({ name, last, label }) {
  const jump = (event) => {
    event.preventDefault();
    const [field] = event.currentTarget.elements;
    const page = Math.trunc(Number(field.value));
    field.value = "";
    if (page >= 1) turnTo(name, Math.min(page, last));
  };
  return html`<form class="jump" onSubmit=${jump}>
    <label>Go to <input type="number" min="1" aria-label=${`Go to page of ${label}`} /></label>
  </form>`;
}

/**
 * All rows that the table has now, as a file: `rows`, or what the API lists, `without` the fields of columns that are hidden.
 * While they come, the button stops it. Where the file has more rows, `total`, than are `shown`, the button says how many.
 */
export function Csv({ name, label, shown, total, without, rows = null, path = null, query = null, rowKey = null }) {
  const [came, setCame] = useState(null);
  const [fault, setFault] = useState(null);
  const stop = useRef(null);
  useEffect(() => () => stop.current?.abort(), []);
  const load = async () => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setFault(null);
    setCame({ rows: 0, total: null });
    try {
      const { download, save } = await import("./csv.js");
      const found = rows ?? (await download({ path, query, rowKey, signal, progress: (rows, total) => setCame({ rows, total }) }));
      save(`hwci-${name}.csv`, found, without);
    } catch (error) {
      if (!signal.aborted) setFault(error.message);
    }
    setCame(null);
  };
  const press = () => (came ? stop.current.abort() : load());
  const some = total > shown && counted(total, "row");
  const offer = some ? `CSV of ${some}` : "CSV";
  const words = !came ? offer : came.total === null ? "Stop" : `Stop (${count(came.rows)} of ${count(came.total)})`;
  return html`<button type="button" aria-label=${came ? undefined : some ? `${offer}: ${label}` : `${offer} of ${label}`}
      title="All rows that fit, with the fields of the columns that are shown" onClick=${press}>${words}</button>
    ${fault && html`<p class="fault" role="alert">No file: ${fault}</p>`}`;
}
