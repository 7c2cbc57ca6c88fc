// The base of all views: they fetch, draw and listen until they are closed.

import { fill } from './dom.js';
import { debounce, drawSoon } from './schedule.js';
import { on } from './store.js';

export class View {
  error = null;
  isClosed = false;
  /** Counts the requests: only the response to the last one is used. */
  requestNumber = 0;

  /** A view has `fetch()`, `take(response)` and `content()`. */
  constructor(host) {
    this.host = host;
    this.stops = [on('refresh', () => this.load())];
  }

  /** Calls `listener` for a topic of the store until the view is closed. */
  listen(topic, listener) {
    this.stops.push(on(topic, listener));
  }

  close() {
    this.isClosed = true;
    for (const stop of this.stops) stop();
  }

  async load() {
    const requestNumber = ++this.requestNumber;
    try {
      const response = await this.fetch();
      if (requestNumber !== this.requestNumber || this.isClosed) return;
      this.take(response);
      this.error = null;
    } catch (error) {
      if (requestNumber !== this.requestNumber) return;
      this.error = error;
    }
    this.drawLater();
  }

  /** A `load` that waits for a pause in the stream, and until the page is visible. */
  loadWhenQuiet(quiet, longest) {
    const load = () => this.isClosed || this.load();
    return debounce(() => drawSoon(load), quiet, longest);
  }

  drawLater = () => drawSoon(this.draw);

  draw = () => {
    if (this.isClosed) return;
    fill(this.host, this.content());
    this.drawn();
  };

  /** After each drawing. */
  drawn() {}
}
