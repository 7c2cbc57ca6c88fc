// A part of a session's timeline, loaded page by page. It grows at both ends and is cut at the far one.
//
// A session may have hundreds of thousands of events, so only some of the viewed ones are kept.

import { get, path } from '../api.js';

const PAGE = 500;
const MAX_EVENTS = 20_000;
// The number of streamed events that are kept while a page is being loaded.
const MAX_EARLY = 1000;

export class Pages {
  pages = [];
  events = [];
  /** Whether the newest event is here; only then may events of the stream be added. */
  atEnd = false;
  /** How many bytes of the timeline were read. */
  scanned = 0;
  /** Lines that could not be read. */
  skipped = 0;
  /** Counts restarts, so that responses to outdated requests are dropped. */
  round = 0;
  /** The directions that are being loaded; each end has one request at a time. */
  loading = new Set();
  early = [];

  constructor(session) {
    this.address = path('sessions', session, 'timeline');
    this.filter = {};
  }

  get atStart() {
    return this.pages.length > 0 && this.pages[0].older === null;
  }

  get lastId() {
    return this.events.at(-1)?.id ?? -1;
  }

  /** Restarts at the end. */
  async openEnd(filter = this.filter) {
    this.restart(filter);
    const page = await this.fetch({ direction: 'older' });
    if (!page) return;
    this.take([page]);
    this.atEnd = true;
    this.addEarly();
  }

  /** Restarts at the first event. */
  async openStart() {
    this.restart(this.filter);
    const page = await this.fetch({ direction: 'newer' });
    if (page) this.take([page]);
  }

  restart(filter) {
    this.round += 1;
    this.filter = filter;
    this.atEnd = false;
    this.loading = new Set();
    this.scanned = this.skipped = 0;
    this.early = [];
    this.take([]);
  }

  /** Loads the previous page; returns by how many events the front grew. */
  async loadOlder() {
    if (this.loading.has('older') || this.pages.length === 0 || this.atStart) return 0;
    const page = await this.fetch({ cursor: this.pages[0].older, direction: 'older' });
    if (!page) return 0;
    this.take([page, ...this.pages]);
    this.cutEnd();
    return page.events.length;
  }

  /** Loads the next page; returns by how many events the front grew, which is negative if it was cut. */
  async loadNewer() {
    if (this.loading.has('newer') || this.pages.length === 0) return 0;
    const { newer } = this.pages.at(-1);
    const page = await this.fetch({ cursor: newer, direction: 'newer' });
    if (!page) return 0;
    page.events = page.events.filter((event) => event.id > this.lastId);
    // The cursor does not move when there is nothing behind it.
    if (page.newer === newer) {
      this.atEnd = true;
      this.addEarly();
      return 0;
    }
    this.take([...this.pages, page]);
    return this.cutStart();
  }

  /** Loads everything up to the newest event, after the stream was interrupted. */
  async catchUp() {
    if (this.pages.length === 0) return this.openEnd();
    this.dropStreamed();
    this.atEnd = false;
    while (!this.atEnd) {
      const { round } = this;
      const before = this.pages.length;
      await this.loadNewer();
      if (round !== this.round || (!this.atEnd && this.pages.length === before)) return;
    }
  }

  /** Drops the streamed events after the last page: they may follow a gap, and are read again. */
  dropStreamed() {
    const last = this.pages.at(-1);
    last.events = last.events.filter((event) => event.id < last.newer);
    this.take(this.pages);
  }

  /** Adds an event of the stream; returns whether it is shown. */
  add(event) {
    if (!this.matches(event)) return false;
    if (!this.atEnd) return this.holdBack(event);
    if (event.id <= this.lastId) return false;
    this.pages.at(-1).events.push(event);
    this.events.push(event);
    if (this.events.length > MAX_EVENTS) this.atEnd = false;
    return true;
  }

  /** Keeps an event that arrives before the page that precedes it. */
  holdBack(event) {
    this.early.push(event);
    if (this.early.length > MAX_EARLY) this.early.shift();
    return false;
  }

  addEarly() {
    const { early } = this;
    this.early = [];
    for (const event of early) this.add(event);
  }

  matches(event) {
    const { type, category, q } = this.filter;
    if (type && type !== event.type) return false;
    if (category && category !== event.type.split(':')[0]) return false;
    return !q || JSON.stringify(event).toLowerCase().includes(q.toLowerCase());
  }

  async fetch(params) {
    const { round, loading } = this;
    loading.add(params.direction);
    try {
      const page = await get(this.address, { ...this.filter, limit: PAGE, ...params });
      if (round !== this.round) return null;
      this.scanned += page.scanned;
      this.skipped += page.skipped;
      return page;
    } finally {
      loading.delete(params.direction);
    }
  }

  take(pages) {
    this.pages = pages;
    this.events = pages.flatMap((page) => page.events);
  }

  cutEnd() {
    while (this.events.length > MAX_EVENTS && this.pages.length > 2) {
      this.take(this.pages.slice(0, -1));
      this.atEnd = false;
    }
  }

  cutStart() {
    const before = this.events.length;
    while (this.events.length > MAX_EVENTS && this.pages.length > 2) this.take(this.pages.slice(1));
    return this.events.length - before;
  }
}
