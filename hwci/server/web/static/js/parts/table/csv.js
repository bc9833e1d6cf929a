// SPDX-License-Identifier: Apache-2.0
// The rows of a table as a file: all of them are asked for, and saved. It knows no list, and not what the file says.

import { get } from "../../api.js";
import { csvOf } from "./csv_text.js";

const LIST_ROWS = 100; // the most that the API gives at once
const BYTE_ORDER_MARK = "\ufeff"; // by which Excel knows UTF-8

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
