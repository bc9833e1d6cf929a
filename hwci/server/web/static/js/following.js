// SPDX-License-Identifier: Apache-2.0
// Following runs (contract, "Runs and streams"): how a stream of server-sent events is read, and when it
// is asked for again. A stream that ends or is cut is resumed after the last event: none is missed, none comes
// twice. The page decides what an event means to it.

import { open } from "./api.js";
import { unanswered } from "./refusal.js";

const EVENTS = new Set(["run.started", "run.test", "run.reported", "run.lost"]);
const PAUSE_MILLISECONDS = 2_000; // after a stream has ended, unless it asked for another pause
const BACKOFF_FIRST_MILLISECONDS = 500;
const BACKOFF_MOST_MILLISECONDS = 15_000;
// The server sends something every 15 seconds. After this much silence the connection counts as cut.
const SILENCE_MILLISECONDS = 45_000;
// After this time a hidden page closes its stream, as an organization has few of them.
const HIDDEN_MILLISECONDS = 15_000;

/** Reads one stream. `id`: the last that it gave, with an event or without; `retry`: its pause. */
export class EventStream {
  id = null;
  retry = PAUSE_MILLISECONDS;
  #decoder = new TextDecoder();
  #rest = "";
  #afterReturn = false;
  #id = null;
  #type = "";
  #data = [];

  /** Return the events that these bytes complete: `{id, type, data}`. The rest is kept for the next. */
  feed(bytes) {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (text === "") return [];
    if (this.#afterReturn && text.startsWith("\n")) text = text.slice(1);
    this.#afterReturn = text === "" ? false : text.endsWith("\r"); // a line feed may belong to it
    const lines = (this.#rest + text).split(/\r\n|\r|\n/);
    this.#rest = lines.pop();
    return lines.map((line) => this.#take(line)).filter(Boolean);
  }

  #take(line) {
    if (line === "") return this.#complete();
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line);
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#type = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^\d{1,9}$/.test(value)) this.retry = Number(value);
    return null;
  }

  /** End a block. A block without data is not an event, but its id counts. */
  #complete() {
    this.id = this.#id;
    const event = { id: this.#id, type: this.#type || "message", data: this.#data.join("\n") };
    const hasData = this.#data.length > 0;
    this.#type = "";
    this.#data = [];
    return hasData ? event : null;
  }
}

/**
 * Follow a stream of the API while the page is visible. `listener.begun()`: it began, or began again, and what
 * happened before has to be asked for; `listener.event(event)`: an event as the API sends it;
 * `listener.state(state, fault)`: "connecting", "live", "cut", or "ended" when trying again would not help.
 * Return a function that stops it.
 */
export function follow(path, listener) {
  const place = { after: null };
  let line = null;
  let timer = null;
  const look = () => {
    window.clearTimeout(timer);
    if (document.hidden) timer = window.setTimeout(leave, HIDDEN_MILLISECONDS);
    else if (line === null) {
      line = new AbortController();
      keepFollowing(path, place, listener, line.signal);
    }
  };
  const leave = () => {
    line?.abort();
    line = null;
  };
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    document.removeEventListener("visibilitychange", look);
    window.clearTimeout(timer);
    leave();
  };
}

async function keepFollowing(path, place, listener, signal) {
  listener.state("connecting");
  for (let failed = 0; !signal.aborted; ) {
    let pause;
    const line = listening(signal);
    try {
      const headers = place.after === null ? {} : { "Last-Event-ID": place.after };
      const response = await open(path, { signal: line.signal, headers });
      failed = 0;
      pause = Math.random() * (await readStream(response, line, place, listener));
    } catch (fault) {
      if (signal.aborted) return;
      if (fault.status === 409) place.after = null; // that event is gone
      else if (!fault.isPassing) return listener.state("ended", fault);
      // Pages that got the same `Retry-After` do not all come back at once. No answer tells nothing: soon again.
      pause = fault.status === 0 ? 0 : 1000 * (fault.retryAfter ?? 0);
      pause += Math.random() * Math.min(BACKOFF_MOST_MILLISECONDS, BACKOFF_FIRST_MILLISECONDS * 2 ** failed);
      failed += 1;
    } finally {
      line.done();
    }
    if (signal.aborted) return;
    listener.state("cut");
    await new Promise((resume) => window.setTimeout(resume, pause));
  }
}

/** Read until the stream ends or is cut. Return the pause that it asks for. */
async function readStream(response, line, place, listener) {
  const reader = response.body.getReader();
  try {
    return await readAll(reader, line, place, listener);
  } finally {
    reader.cancel().catch(() => {}); // what is cut already
  }
}

async function readAll(reader, line, place, listener) {
  const stream = new EventStream();
  let isPlaced = false; // its first block names the event after which it begins
  for (;;) {
    const bytes = await nextBytes(reader);
    if (bytes === null) return stream.retry;
    line.reset();
    const events = stream.feed(bytes).filter(({ type }) => EVENTS.has(type)); // a newer server has more
    const isNew = place.after === null;
    if (stream.id !== null) place.after = stream.id;
    if (!isPlaced && stream.id !== null) {
      isPlaced = true;
      listener.state("live");
      if (isNew) notify(listener.begun);
    }
    for (const event of events.flatMap(read)) notify(listener.event, event);
  }
}

/** Return the content of an event as a list, empty if it is not JSON: the next event may be. */
function read({ data }) {
  try {
    return [JSON.parse(data)];
  } catch {
    return [];
  }
}

/** Notify the page. An error in the page does not end the stream. */
function notify(what, event) {
  try {
    what(event);
  } catch (fault) {
    window.reportError(fault);
  }
}

/** Return what comes next; null once nothing more will. */
async function nextBytes(reader) {
  try {
    const { value, done } = await reader.read();
    return done ? null : value;
  } catch {
    return null; // cut
  }
}

/** Return a signal that aborts the request after too long a silence, and `reset`, which restarts that time. */
function listening(signal) {
  const silence = new AbortController();
  let timer;
  const done = () => window.clearTimeout(timer);
  const reset = () => {
    done();
    timer = window.setTimeout(() => silence.abort(unanswered()), SILENCE_MILLISECONDS);
  };
  reset();
  return { signal: AbortSignal.any([signal, silence.signal]), reset, done };
}
