// SPDX-License-Identifier: Apache-2.0
// Rows as the text of a CSV file, one column for each field. Columns are the names of the fields as the API has them, those of
// an object within a row as `firstFailure.sha`. What a column that is hidden would tell is left out.

// Where a spreadsheet begins a cell (where `;` parts them, in the middle of ours, too), and what it takes for a formula
// there: the signs, and their wide and small forms. The command line's CSV does the same.
const FORMULA = /(^|;)(?=[\s"']*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b])/g;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** The rows as text, under the names of their fields. `without`: fields that it has not. */
export function csvOf(rows, without) {
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
