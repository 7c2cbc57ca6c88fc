// What all views share: they fetch, draw and listen, and stop doing so when they are closed.

import { fill } from './dom.js';
import { drawSoon, settle } from './frame.js';
import { on } from './store.js';

export class View {
  error = null;
  isClosed = false;
  /** Counts the questions to the server: only the answer to the last one is taken. */
  round = 0;

  /** A view has `fetch()`, `take(answer)` and `content()`. */
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
    const round = ++this.round;
    try {
      const answer = await this.fetch();
      if (round !== this.round || this.isClosed) return;
      this.take(answer);
      this.error = null;
    } catch (error) {
      if (round !== this.round) return;
      this.error = error;
    }
    this.drawLater();
  }

  /** A `load` that waits for a pause in the stream, and for somebody to look. */
  loadWhenQuiet(quiet, longest) {
    const load = () => this.isClosed || this.load();
    return settle(() => drawSoon(load), quiet, longest);
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
