// SPDX-License-Identifier: Apache-2.0
// What is wrong with the query of a written address: the values that the API refuses, in its words, and a link
// to the same page without them. The API decides what is allowed.

import { shortened } from "../../format.js";
import { html } from "../../html.js";

const SHOWN = 40; // characters of a value: one may be refused because it is too long

/**
 * Return the parameters of the present address that an answer refuses: `{name, value, message}`. `table`:
 * the name of the table that was asked for, whose state is in the address under it.
 */
export function refusedParameters({ issues = [] }, table) {
  const query = new URLSearchParams(window.location.search);
  return issues
    .filter(({ path }) => path[0] === "query")
    .map(({ path, message }) => {
      const name = [`${table}.${path[1]}`, path[1]].find((one) => query.has(one));
      return { name: name ?? path[1], value: query.get(name) ?? "", message };
    });
}

/** Which values are refused and why, and the way on. */
export function RefusedParameters({ parameters }) {
  return html`<p>This address has values that are not allowed:</p>
    <ul>${parameters.map(({ name, value, message }) => html`<li key=${name}>
      <code>${name}=${shortened(value, SHOWN)}</code> ${asPredicate(message)}</li>`)}</ul>
    <p><a href=${without(parameters)}>Show the page without ${parameters.length === 1 ? "this value" : "these values"}</a></p>`;
}

/** Turn "Input should be a whole number" into the end of a sentence that begins with the value. */
function asPredicate(message) {
  const text = message.replace(/^(Input|String|Value) should/, "should");
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function without(parameters) {
  const query = new URLSearchParams(window.location.search);
  for (const { name } of parameters) query.delete(name);
  const written = query.toString();
  return window.location.pathname + (written ? `?${written}` : "");
}
