// SPDX-License-Identifier: Apache-2.0
// How values are written for people. Pure: nothing is asked, nothing is drawn.

const UNITS = [
  ["year", 365 * 86400],
  ["month", 30 * 86400],
  ["week", 7 * 86400],
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
// By their parts: a style of a whole date and time names no zone.
const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
const absolute = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  year: "numeric",
  ...clock,
  timeZoneName: "short",
});
const time = new Intl.DateTimeFormat(undefined, clock);
const date = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const dateAndTime = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const tenths = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const inSeconds = new Intl.NumberFormat("en", { style: "unit", unit: "second", unitDisplay: "narrow", maximumFractionDigits: 1 });
const number = new Intl.NumberFormat("en");

/** "3 days ago", "in 2 hours", "just now". */
export function ago(at, now = Date.now()) {
  const seconds = (new Date(at).getTime() - now) / 1000;
  const unit = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  if (!unit) return "just now";
  const units = seconds / unit[1];
  // What was ten minutes and a half ago was ten minutes ago; what ends in a minute less than a day
  // ends in 24 hours.
  return relative.format(units > 0 ? Math.round(units) : Math.trunc(units), unit[0]);
}

/** A time in full, in the reader's own zone, which it names. */
export function moment(at) {
  return absolute.format(new Date(at));
}

/** A time of today, by the reader's clock. */
export function timeOfDay(at) {
  return time.format(at);
}

/** A period by its days. */
export function periodName({ from, to }) {
  return date.formatRange(new Date(from), new Date(to));
}

/** A slot of a period, which begins and ends at the hour of the asking: its days alone would name two. */
export function slotName({ from, to }) {
  return dateAndTime.formatRange(new Date(from), new Date(to));
}

/** A whole number with its thousands apart. */
export function count(value) {
  return number.format(value);
}

/** "1 merge", "2 merges". */
export function counted(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A share as a percentage, of what the API gives as one: 12.5 is "12.5 %". */
export function percent(value) {
  return `${tenths.format(value)} %`;
}

/** How long a test took: 12.5 is "12.5s". */
export function seconds(value) {
  return inSeconds.format(value);
}

/** The first characters of a commit's hash. */
export function short(sha) {
  return sha.slice(0, 10);
}

/** How a product is named: its suite, and its repository where there are several. */
export function productName({ repoKey, suite }, several = true) {
  return several ? `${repoKey} · ${suite}` : suite;
}
