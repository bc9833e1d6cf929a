// SPDX-License-Identifier: Apache-2.0
// One at a time over all tabs. Browsers have locks for that, but not on a page that came over plain HTTP
// from another machine: there a lease is in a database of the browser, whose transactions come one
// after the other. A closed tab gives its lock back at once, a lease when it expires.

const DATABASE = "hwci";
const STORE = "leases";
const LEASE_MILLISECONDS = 12_000; // longer than the note of a renewal (mark.js)
const LOOK_MILLISECONDS = 50;

/** Run `work` under an exclusive lock of this name and return its result. The signal `waits` ends only the waiting. */
export function underLock(name, work, waits) {
  return navigator.locks ? navigator.locks.request(name, { signal: waits }, work) : underLease(name, work, waits);
}

/** Hold a shared lock of this name for as long as the page lives. */
export function bePresent(name) {
  navigator.locks?.request(name, { mode: "shared" }, () => new Promise(() => {}));
}

/** Whether other pages hold the shared lock too; false if the browser has no locks. */
export async function othersPresent(name) {
  if (!navigator.locks) return false;
  const { held } = await navigator.locks.query();
  return held.filter((lock) => lock.name === name).length > 1;
}

async function underLease(name, work, waits) {
  const database = await opened();
  const holder = Array.from(crypto.getRandomValues(new Uint32Array(4))).join("-");
  const mine = (lease) => !lease || lease.holder === holder || lease.until < Date.now();
  const take = () => changed(database, name, mine, { holder, until: Date.now() + LEASE_MILLISECONDS });
  let prolonging;
  try {
    while (!(await take())) {
      waits.throwIfAborted();
      await new Promise((resume) => window.setTimeout(resume, LOOK_MILLISECONDS));
    }
    // Work may last longer than a lease, which is short for the sake of tabs that are gone.
    prolonging = window.setInterval(() => take().catch(() => {}), LEASE_MILLISECONDS / 3);
    return await work();
  } finally {
    window.clearInterval(prolonging);
    await changed(database, name, (lease) => lease?.holder === holder, null);
    database.close();
  }
}

function opened() {
  const request = window.indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return new Promise((give, fail) => {
    request.onsuccess = () => give(request.result);
    request.onerror = () => fail(request.error);
  });
}

/** Replace a lease if `may` allows it, in one transaction. Return whether it did. */
function changed(database, name, may, lease) {
  const transaction = database.transaction(STORE, "readwrite");
  const store = transaction.objectStore(STORE);
  let done = false;
  store.get(name).onsuccess = ({ target }) => {
    done = Boolean(may(target.result));
    if (done && lease) store.put(lease, name);
    else if (done) store.delete(name);
  };
  return new Promise((give, fail) => {
    transaction.oncomplete = () => give(done);
    transaction.onabort = () => fail(transaction.error);
  });
}
