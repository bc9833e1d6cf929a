// SPDX-License-Identifier: Apache-2.0
// How values are written for people. Pure functions: no requests, no drawing.

/**
 * Each unit with its smallest number that is shown: "1 month" would mean 30 days as well as 59.
 * @type {[Intl.RelativeTimeFormatUnit, number, number][]}
 */
const UNITS = [
  ["year", 365 * 86400, 2],
  ["month", 30 * 86400, 2],
  ["week", 7 * 86400, 2],
  ["day", 86400, 2],
  ["hour", 3600, 2],
];
/** @type {[Intl.RelativeTimeFormatUnit, number]} */
const MINUTE = ["minute", 60];
/** @type {[string, number][]} */
const PARTS = [
  ["h", 3600],
  ["min", 60],
  ["s", 1],
];
const relative = new Intl.RelativeTimeFormat("en");
// All readers see dates written alike, as people tell each other what they see; the zone is the reader's own.
const LOCALE = "en-GB";
/**
 * By their parts: a style of a whole date and time names no zone.
 * @type {Intl.DateTimeFormatOptions}
 */
const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
const absolute = new Intl.DateTimeFormat(LOCALE, {
  day: "numeric",
  month: "short",
  year: "numeric",
  ...clock,
  timeZoneName: "short",
});
const time = new Intl.DateTimeFormat(LOCALE, { ...clock, timeZoneName: "short" });
const date = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short", year: "numeric" });
const calendarDay = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short", timeZone: "UTC" });
const tenths = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const number = new Intl.NumberFormat("en");

/** "3 days ago", "in 2 hours", "just now"; what is past, the command line writes so too. */
export function ago(at, now = Date.now()) {
  const seconds = (new Date(at).getTime() - now) / 1000;
  if (Math.abs(seconds) < MINUTE[1]) return "just now";
  const [unit, size] = UNITS.find(([, size, least]) => Math.abs(seconds) >= least * size) ?? MINUTE;
  const units = seconds / size;
  // Ten and a half minutes ago reads "10 minutes ago"; a minute less than a day ahead reads
  // "in 24 hours".
  return relative.format(units > 0 ? Math.round(units) : Math.trunc(units), unit);
}

/** A time in full, in the reader's own zone, which it names. */
export function moment(at) {
  return absolute.format(new Date(at));
}

/** A time of today, by the reader's clock, with its zone. */
export function timeOfDay(at) {
  return time.format(at);
}

/** The day of a time, in the reader's own zone. */
export function dateOf(at) {
  return date.format(new Date(at));
}

/** A period by its days. */
export function periodName({ from, to }) {
  return date.formatRange(new Date(from), new Date(to));
}

/** A calendar day of the API, or several: "24 Oct", "24 – 27 Oct". It is in the reader's zone already. */
export function dayName({ firstDay, lastDay }) {
  return calendarDay.formatRange(new Date(firstDay), new Date(lastDay));
}

/** A day as `dayName`, or that it is a part of one: the period cuts it. */
export function dayOrPart(day) {
  return `${dayName(day)}${day.whole ? "" : " (part)"}`;
}

/** A whole number with its thousands apart. */
export function count(value) {
  return number.format(value);
}

/** A difference with its sign: "+3", "−3". */
export function signed(value) {
  return `${value < 0 ? "−" : "+"}${count(Math.abs(value))}`;
}

/** "1 merge", "2 merges". */
export function counted(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Words as a sentence begins. */
export function sentence(words) {
  return words[0].toUpperCase() + words.slice(1);
}

/** A percentage of the API: 12.5 is "12.5 %". */
export function percent(value) {
  return `${tenths.format(value)} %`;
}

/** A part of a whole, the share first: "4.0 % (12 of 300)"; null where there is nothing to be a part of. */
export function shareText({ part, total }) {
  return total === 0 ? null : `${percent((100 * part) / total)} (${count(part)} of ${count(total)})`;
}

/** A chance as people say it, in the words of the API: only what is certain is 0 or 100 %. */
export function chanceText(chance) {
  const text = `${Math.round(100 * chance)} %`;
  if (chance > 0 && text === "0 %") return "under 1 %";
  return chance < 1 && text === "100 %" ? "over 99 %" : text;
}

/** A range of percentages: "89.2 to 93.9 %"; the API has null where there is too little for one. */
export function range(low, high) {
  return low === null ? "not enough data" : `${tenths.format(low)} to ${percent(high)}`;
}

/** The range of a share, whose ends are between 0 and 1, in the same words. */
export function rangeOf({ low, high }) {
  return range(low === null ? null : 100 * low, 100 * high);
}

/** How long something took: "2 h 5 min", "7 min 8 s", "12 s"; `exact`, as tests are measured: "12.5 s". */
export function duration(seconds, exact = false) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${exact ? tenths.format(seconds) : whole} s`;
  const first = PARTS.findIndex(([, size]) => whole >= size);
  const rest = whole % PARTS[first][1];
  const parts = PARTS.slice(first, first + 2).map(([unit, size], i) => ({ unit, value: Math.floor((i ? rest : whole) / size) }));
  return parts.filter(({ value }) => value > 0).map(({ unit, value }) => `${value} ${unit}`).join(" ");
}

/** The first digits of a commit, as many as the command line shows. */
export function short(sha) {
  return sha.slice(0, 12);
}

/** A text that anybody may have written, such as a value of an address, without what is too long to be read. */
export function shortened(text, most) {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** How a product is named: its suite, and its repository where there are several. */
export function productName({ repoKey, suite }, several = true) {
  return several ? `${repoKey} · ${suite}` : suite;
}
