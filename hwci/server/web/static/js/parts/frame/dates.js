// SPDX-License-Identifier: Apache-2.0
// A period by its first and last day, filled in by hand. Days are those of the reader's time zone; the address has their
// first and last instant. Which pages have a period, and what else their address says, is not known here.

import { html, useState } from "../../html.js";
import { DAYS_MAX } from "./scope.js";

const DAY_MILLISECONDS = 86_400_000;
const NO_DAY = "There is no such day. Look at its day and its month.";

/** The fields. `from`, `asOf`: the period that is shown, null if not chosen; `choose({from, asOf})`: another one is wanted. */
export function Dates({ from, asOf, choose }) {
  const [fault, setFault] = useState("");
  const show = (event) => {
    event.preventDefault();
    const [first, last] = ["first", "last"].map((name) => event.target.elements[name]);
    const wrong = faultOf(first, last);
    setFault(wrong);
    if (!wrong) choose(periodOf(first.value, last.value));
  };
  return html`<form class="dates" noValidate onSubmit=${show}>
    <label>First day <input type="date" name="first" defaultValue=${dayOf(from)} /></label>
    <label>Last day <input type="date" name="last" defaultValue=${dayOf(asOf)} /></label>
    ${fault && html`<p class="failed" role="alert">${fault}</p>`}
    <button type="submit">Show</button>
  </form>`;
}

/** What is wrong with two days and what to do, or nothing. A field without a day of the calendar has no value. */
function faultOf(first, last) {
  if (first.validity.badInput || last.validity.badInput) return NO_DAY;
  if (!first.value || !last.value) return "Fill in both days; for one day alone, the same twice.";
  const [from, to] = [midnight(first.value), midnight(last.value)];
  if (to < from) return "The last day is before the first. Exchange them.";
  if (from > new Date()) return "The first day is still to come, and nothing is recorded of it. Choose one before.";
  return (to.getTime() - from.getTime()) / DAY_MILLISECONDS >= DAYS_MAX ? `Choose at most ${DAYS_MAX} days.` : "";
}

/** The days as times, both of which belong to the period; today ends now. */
function periodOf(first, last) {
  // The last microsecond of the day: a browser's times have milliseconds.
  const end = new Date(midnight(last, 1).getTime() - 1).toISOString().replace("Z", "999Z");
  const [asOf] = [end, new Date().toISOString()].sort();
  return { from: midnight(first).toISOString(), asOf };
}

/** When a day begins in the reader's zone, or the day so many days after it. */
function midnight(day, later = 0) {
  const [year, month, date] = day.split("-").map(Number);
  return new Date(year, month - 1, date + later);
}

/** The reader's day of a time as a field has it; none of what is no time. */
function dayOf(time) {
  const at = new Date(time ?? NaN);
  if (Number.isNaN(at.getTime())) return "";
  const parts = [at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, "0"));
  return [String(at.getFullYear()).padStart(4, "0"), ...parts].join("-");
}
