// SPDX-License-Identifier: Apache-2.0
// The rows of a table as a CSV file, one column for each field. It knows no list: columns are the names
// of the fields as the API has them, those of an object within a row as `firstFailure.sha`. What a column that is hidden would
// tell is left out.

import { get } from "../../api.js";

const LIST_ROWS = 100; // the most that the API gives at once
const BYTE_ORDER_MARK = "\ufeff"; // by which Excel knows UTF-8
// Where a spreadsheet begins a cell (where `;` parts them, in the middle of ours, too), and what it takes for a formula
// there: the signs, and their wide and small forms. The command line's CSV does the same.
const FORMULA = /(^|;)(?=[\s"']*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b])/g;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Return all rows of a list. `progress(rows, total)`: called with how many have come. A server that asks to wait is waited for: it
 * allows an address a hundred requests a minute.
 */
export async function download({ path, query, rowKey, signal, progress }) {
  const rows = new Map(); // by their keys: a row that comes meanwhile moves another one to the next page
  for (let page = 1, total = 1; (page - 1) * LIST_ROWS < total; page += 1) {
    const list = await patiently(() => get(path, { ...query, page, limit: LIST_ROWS }, { signal }), signal);
    for (const row of list.items) rows.set(rowKey(row), row);
    total = list.total;
    progress(rows.size, total);
  }
  signal.throwIfAborted();
  return [...rows.values()];
}

async function patiently(ask, signal) {
  for (;;) {
    try {
      return await ask();
    } catch (fault) {
      if (signal.aborted || (fault.retryAfter ?? null) === null) throw fault;
      await new Promise((resume) => window.setTimeout(resume, 1000 * Math.max(1, fault.retryAfter)));
    }
  }
}

/** Save rows as a file. `without`: fields that it has not. */
export function save(file, rows, without) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([BYTE_ORDER_MARK, csvOf(rows, without)], { type: "text/csv" }));
  link.download = file;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href));
}

/** The rows as text, under the names of their fields. */
function csvOf(rows, without) {
  const isTold = ([name]) => !without.some((one) => name === one || name.startsWith(`${one}.`));
  const flat = rows.map((row) => Object.fromEntries(fieldsOf(row).filter(isTold)));
  const names = [...new Set(flat.flatMap(Object.keys))];
  // An object that a row lacks has no column of its own.
  const columns = names.filter((name) => !names.some((other) => other.startsWith(`${name}.`)));
  const lines = [columns, ...flat.map((row) => columns.map((name) => row[name]))];
  return lines.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("");
}

function fieldsOf(row, within = "") {
  return Object.entries(row).flatMap(([name, value]) => {
    const isObject = value !== null && typeof value === "object" && !Array.isArray(value);
    return isObject ? fieldsOf(value, `${within}${name}.`) : [[within + name, value]];
  });
}

/**
 * A cell as it is written in a line: text gets an apostrophe where a spreadsheet would begin a formula, what cannot be seen
 * is written as its number, and what would part the cell is quoted.
 */
function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string" && !Array.isArray(value)) return String(value);
  const plain = Array.isArray(value) ? JSON.stringify(value) : value;
  const text = plain.replace(HIDDEN, escaped).replace(FORMULA, "$1'");
  return /[,;"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function escaped(letter) {
  return `\\u{${letter.codePointAt(0).toString(16)}}`;
}
