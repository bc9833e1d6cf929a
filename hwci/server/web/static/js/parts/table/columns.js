// SPDX-License-Identifier: Apache-2.0
// Which columns of a table are shown: the reader's choice, kept in this browser for each table by its name. It knows
// no table; columns by which a row is known always stay.

import { count } from "../../format.js";
import { html, useEffect, useState } from "../../html.js";
import { keep, kept } from "../../kept.js";
import { Menu } from "../frame/menu.js";

const KEY = "hwci-columns";
const tables = new Set(); // redraw functions of the tables on the page

let hidden = read(); // the keys of columns that are not shown, by the name of their table

window.addEventListener("storage", ({ key }) => key === KEY && take(read())); // another tab chose

/** Return the columns to show of a table. A choice draws it again. */
export function useShown(table, columns) {
  const [, redraw] = useState({});
  useEffect(() => {
    const redrawn = () => redraw({});
    tables.add(redrawn);
    return () => tables.delete(redrawn);
  }, []);
  const gone = goneOf(table, columns);
  return columns.filter((column) => !gone.includes(column));
}

/** Return the fields of a row that no shown column tells: those of the columns that a reader hid. */
export function fieldsNotShown(columns, shown) {
  const told = new Set(shown.flatMap(fieldsOf));
  return columns.filter((one) => !shown.includes(one)).flatMap(fieldsOf).filter((name) => !told.has(name));
}

function fieldsOf({ key, fields = [key] }) {
  return fields;
}

/** The choice of the columns of a table; nothing where none may go. */
export function Columns({ table, columns, label }) {
  const choices = choicesOf(columns);
  if (choices.length === 0) return null;
  const gone = goneOf(table, columns);
  const hide = (these) => {
    take({ ...hidden, [table]: these.map(({ key }) => key) });
    keep("localStorage", KEY, JSON.stringify(hidden));
  };
  const turn = (chosen) => hide(choices.filter((one) => gone.includes(one) !== (one === chosen)));
  const words = gone.length > 0 ? `Columns (${count(gone.length)} hidden)` : "Columns";
  return html`<${Menu} label=${html`${words}<span class="unseen"> of ${label}</span>`}>
    ${choices.map((one) => html`<label key=${one.key}>
      <input type="checkbox" checked=${!gone.includes(one)} onChange=${() => turn(one)} /> ${one.title}</label>`)}
    <button type="button" aria-disabled=${gone.length > 0 ? undefined : "true"} onClick=${() => hide([])}>Show all</button>
  <//>`;
}

/** The columns that may go: not those marked `name` or `fixed`, by which a row is known, or else the first. */
function choicesOf(columns) {
  const fixed = columns.filter(({ name, fixed: stays }) => name || stays);
  return fixed.length > 0 ? columns.filter((one) => !fixed.includes(one)) : columns.slice(1);
}

function goneOf(table, columns) {
  const keys = hidden[table] ?? [];
  return choicesOf(columns).filter(({ key }) => keys.includes(key));
}

function take(chosen) {
  hidden = chosen;
  for (const redrawn of tables) redrawn();
}

/** What is kept; anything else is ignored. */
function read() {
  try {
    const entries = Object.entries(JSON.parse(kept("localStorage", KEY) ?? "{}"));
    return Object.fromEntries(entries.filter(([, keys]) => Array.isArray(keys)));
  } catch {
    return {};
  }
}
