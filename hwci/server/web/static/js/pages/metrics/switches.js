// SPDX-License-Identifier: Apache-2.0
// The switches of the metrics page that leave the specification's rows: by cause, and without tests that never flaked
// (ADR 0013). The last choice of a person is kept in this browser; an address that says something of the rows of a table
// goes before it.

import { addressOf, change, go } from "../../address.js";
import { mayBe } from "../../choices.js";
import { useLayoutEffect } from "../../html.js";
import { keep, kept } from "../../kept.js";
import { tableState } from "../../parts/table/table.js";

const USUAL = { "bugs.by": "failure", "other.by": "failure", "flaky.tests": "all" }; // what a plain address shows
const TABLES = { "bugs.by": "bugs", "other.by": "other", "flaky.tests": "flaky" }; // by the switch, in the address

/**
 * Write what the reader chose last into an address that does not say it. Return `turn(changes)`, which changes the address
 * as `change` does, and remembers what it says of a switch. `me`: the reader, null until it is known.
 */
export function useSwitches(me, address) {
  const key = me && `hwci-switches-${me.user.id}`;
  useLayoutEffect(() => { // before rows are drawn that would go at once
    const chosen = key ? chosenBy(key) : {};
    const left = Object.keys(chosen).filter((name) => !address.query.has(name) && tableState(TABLES[name], address.query).plain);
    if (left.length === 0) return;
    const query = { ...Object.fromEntries(address.query), ...Object.fromEntries(left.map((name) => [name, chosen[name]])) };
    go(addressOf(address.page, address.params, query) + window.location.hash, { replace: true });
  }, [key, address]);
  return (changes) => {
    const chosen = Object.entries(changes).filter(([name]) => name in TABLES);
    if (key) remember(key, { ...chosenBy(key), ...Object.fromEntries(chosen) });
    // Back leads to what is shown now: a plain address would take what was chosen last.
    const now = Object.fromEntries(chosen.filter(([name]) => !address.query.has(name)).map(([name]) => [name, USUAL[name]]));
    if (Object.keys(now).length > 0) change(now, { replace: true });
    change(changes);
  };
}

/** Keep what differs from a plain address; nothing at all where nothing does. */
function remember(key, chosen) {
  const other = Object.entries(chosen).filter(([name, value]) => value !== USUAL[name]);
  keep("localStorage", key, other.length > 0 ? JSON.stringify(Object.fromEntries(other)) : null);
}

/** What a person chose, by the switch. */
function chosenBy(key) {
  try {
    const chosen = Object.entries(JSON.parse(kept("localStorage", key) ?? "{}"));
    return Object.fromEntries(chosen.filter(([name, value]) => name in TABLES && mayBe(name, value)));
  } catch {
    return {}; // damaged
  }
}
