// The stream of events: one connection, resumed after an interruption.
//
// EventSource cannot send headers or tell a dead connection from a quiet one, so the stream is read with fetch.

import { credentials, onLogin } from './api.js';

const FIRST_DELAY = 500;
const MAX_DELAY = 30_000;
// The server sends a heartbeat every 15 seconds.
const SILENCE_TIMEOUT = 40_000;
const OFFLINE_AFTER = 3;

/**
 * Connects and stays connected. `handlers.event(name, data)` gets each event, `handlers.state(name)` one of
 * `live`, `reconnecting`, `offline`, `locked`, and `handlers.opened()` is called whenever a connection is made: data
 * that was fetched without one has to be fetched again.
 */
export function connect(handlers) {
  const connection = new Connection(handlers);
  addEventListener('online', () => connection.reconnectNow());
  document.addEventListener('visibilitychange', () => document.hidden || connection.reconnectNow());
  onLogin(() => connection.reconnectNow());
  connection.run();
}

class Connection {
  lastId = null;
  failures = 0;
  isLocked = false;
  wake = null;

  constructor(handlers) {
    this.handlers = handlers;
  }

  async run() {
    for (;;) {
      this.isLocked = false;
      await this.readOnce().catch(() => {});
      this.failures += 1;
      this.handlers.state(this.lostState());
      await this.pause();
    }
  }

  lostState() {
    if (this.isLocked) return 'locked';
    return this.failures >= OFFLINE_AFTER || !navigator.onLine ? 'offline' : 'reconnecting';
  }

  /** Reads one connection until it ends. */
  async readOnce() {
    const abort = new AbortController();
    const watchdog = new Watchdog(() => abort.abort());
    try {
      const response = await fetch('/api/events', { headers: this.headers(), cache: 'no-store', signal: abort.signal });
      // A restarted server does not know this page.
      this.isLocked = response.status === 401;
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      this.begin();
      await this.consume(response.body.pipeThrough(new TextDecoderStream()).getReader(), watchdog);
    } finally {
      watchdog.stop();
    }
  }

  headers() {
    const position = this.lastId === null ? {} : { 'Last-Event-ID': this.lastId };
    return { Accept: 'text/event-stream', ...position, ...credentials() };
  }

  begin() {
    this.failures = 0;
    this.handlers.state('live');
    this.handlers.opened();
  }

  async consume(reader, watchdog) {
    const parser = new Parser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      watchdog.reset();
      for (const message of parser.feed(value)) this.deliver(message);
    }
  }

  /** An unreadable event does not end the stream, because it would come again after every reconnection. */
  deliver({ name, data, id }) {
    if (id !== null) this.lastId = id;
    try {
      this.handlers.event(name, JSON.parse(data));
    } catch (error) {
      console.error(name, error);
    }
  }

  /** The delay grows with each failure and is random, so that pages do not reconnect at the same time. */
  pause() {
    const wait = Math.min(MAX_DELAY, FIRST_DELAY * 2 ** (this.failures - 1));
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, wait * (0.5 + Math.random() / 2));
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  reconnectNow() {
    this.wake?.();
  }
}

class Watchdog {
  constructor(expire) {
    this.expire = expire;
    this.reset();
  }

  reset() {
    clearTimeout(this.timer);
    this.timer = setTimeout(this.expire, SILENCE_TIMEOUT);
  }

  stop() {
    clearTimeout(this.timer);
  }
}

/** Splits the stream into messages of the server-sent events format. */
class Parser {
  incompleteLine = '';
  fields = { name: 'message', data: [], id: null };

  feed(chunk) {
    const text = this.incompleteLine + chunk;
    // A CR at the very end may be half of a CRLF.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.incompleteLine = lines.pop();
    return lines.map((line) => this.line(line)).filter((message) => message !== null);
  }

  line(line) {
    if (line === '') return this.finish();
    const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line);
    if (name === 'event') this.fields.name = value;
    else if (name === 'data') this.fields.data.push(value);
    else if (name === 'id') this.fields.id = value;
    return null;
  }

  finish() {
    const { name, data, id } = this.fields;
    this.fields = { name: 'message', data: [], id: null };
    return data.length ? { name, data: data.join('\n'), id } : null;
  }
}
