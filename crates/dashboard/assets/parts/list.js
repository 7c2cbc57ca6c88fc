// The event list: as long as the timeline, with only what can be seen in the document.
//
// All rows are equally high, so that the place of each follows from its number.

import { fill, h } from '../dom.js';
import { drawSoon } from '../frame.js';
import { eventLabel, stageOf } from '../store.js';
import { count, duration, moment, t, time, word } from '../text.js';
import { problem } from './bits.js';
import { icon } from './icon.js';
import { Pages } from './pages.js';

const ROW = 30;
const ROW_NARROW = 48;
const SPARE = 12;
const NARROW = matchMedia('(max-width: 640px)');

export class EventList {
  following = true;
  unseen = 0;
  chosen = null;
  error = null;

  /** `choose(event)` is called for the event that the person picked. */
  constructor(host, session, choose) {
    this.pages = new Pages(session);
    this.choose = choose;
    this.host = host;
    this.build();
    NARROW.addEventListener('change', this.resize);
    this.size = new ResizeObserver(this.resize);
    this.size.observe(this.scroller);
    this.setFilter({});
  }

  close() {
    NARROW.removeEventListener('change', this.resize);
    this.size.disconnect();
    // Answers that are still on their way find nobody.
    this.pages.round += 1;
  }

  build() {
    this.rows = h('div', { class: 'events-rows', role: 'presentation' });
    this.space = h('div', { class: 'events-space', role: 'presentation' }, this.rows);
    this.scroller = h('div', {
      class: 'events-scroll', tabindex: '0', role: 'listbox', 'aria-label': t('events'), 'data-test': 'event-list',
      on: { scroll: () => this.scrolled(), keydown: (event) => this.key(event), click: (event) => this.click(event) },
    }, this.space);
    this.foot = h('div', { class: 'events-foot' });
    fill(this.host, this.scroller, this.foot);
  }

  get rowHeight() {
    return NARROW.matches ? ROW_NARROW : ROW;
  }

  // Where the events come from.

  setFilter(filter) {
    this.chosen = null;
    return this.open(() => this.pages.openEnd(filter), true);
  }

  toEnd() {
    if (!this.pages.atEnd) return this.open(() => this.pages.openEnd(), true);
    this.following = true;
    this.draw();
  }

  toStart() {
    return this.open(() => this.pages.openStart(), false);
  }

  async open(load, follow) {
    this.following = follow;
    this.unseen = 0;
    const loading = this.attempt(load);
    this.draw();
    await loading;
    this.draw();
    if (!follow) this.scroller.scrollTop = 0;
    await this.fillView();
  }

  /** What went wrong is shown below the list; the next look tries again. */
  async attempt(load) {
    try {
      this.error = null;
      return await load();
    } catch (error) {
      this.error = error;
      return 0;
    }
  }

  /** A search may find nothing in a page; it goes on until there is something to see, or no more. */
  async fillView() {
    const { round } = this.pages;
    const isShort = () => this.pages.events.length * this.rowHeight < this.scroller.clientHeight;
    while (round === this.pages.round && !this.error && isShort() && this.pages.pages.length && !this.pages.atStart) {
      await this.loadOlder();
    }
  }

  async loadOlder() {
    if (this.pages.busy || this.pages.atStart) return;
    const before = this.scroller.scrollTop;
    const added = await this.attempt(() => this.pages.loadOlder());
    this.layOut();
    // What was seen stays where it was.
    if (!this.following) this.scroller.scrollTop = before + added * this.rowHeight;
    this.draw();
  }

  async loadNewer() {
    if (this.pages.busy || this.pages.atEnd) return;
    const before = this.scroller.scrollTop;
    const dropped = await this.attempt(() => this.pages.loadNewer());
    this.layOut();
    this.scroller.scrollTop = before - dropped * this.rowHeight;
    this.draw();
  }

  /** An event of the stream. */
  add(event) {
    const isShown = this.pages.add(event);
    if (!isShown) return;
    if (!this.following) this.unseen += 1;
    else if (!this.pages.atEnd) this.pages.openEnd().then(this.drawLater);
    this.drawLater();
  }

  async catchUp() {
    const before = this.pages.events.length;
    await this.attempt(() => this.pages.catchUp());
    if (!this.following) this.unseen += Math.max(0, this.pages.events.length - before);
    this.drawLater();
  }

  // What is seen.

  drawLater = () => drawSoon(this.draw);

  resize = () => this.drawLater();

  draw = () => {
    this.layOut();
    if (this.following) this.scroller.scrollTop = this.scroller.scrollHeight;
    this.drawRows();
    this.drawFoot();
  };

  layOut() {
    this.host.style.setProperty('--row', `${this.rowHeight}px`);
    this.space.style.setProperty('height', `${this.pages.events.length * this.rowHeight}px`);
  }

  drawRows() {
    const { events } = this.pages;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / this.rowHeight) - SPARE);
    const seen = Math.ceil(this.scroller.clientHeight / this.rowHeight) + 2 * SPARE;
    this.rows.style.setProperty('transform', `translateY(${first * this.rowHeight}px)`);
    fill(this.rows, events.slice(first, first + seen).map((event) => this.row(event)));
    const chosen = this.chosen === null ? null : `event-${this.chosen}`;
    if (chosen && document.getElementById(chosen)) this.scroller.setAttribute('aria-activedescendant', chosen);
    else this.scroller.removeAttribute('aria-activedescendant');
  }

  row(event) {
    const isChosen = event.id === this.chosen;
    const stage = event.stage ? stageOf(event.stage) : null;
    return h('div', {
      class: 'event', role: 'option', key: event.id, id: `event-${event.id}`, 'aria-selected': String(isChosen),
      'data-test': 'event-row', 'data-id': event.id, 'data-type': event.type, 'data-tone': toneOf(event), 'data-color': stage?.color,
    },
      h('time', { class: 'event-time', datetime: event.ts, title: moment(event.ts) }, time(event.ts)),
      h('span', { class: 'event-label' }, icon(TONE_ICONS[toneOf(event)]), h('span', {}, eventLabel(event))),
      h('span', { class: 'event-stage' }, stage && `${stage.emoji} ${event.stage}`),
      h('span', { class: 'event-text' }, summary(event)));
  }

  drawFoot() {
    const more = this.unseen > 0 || !this.following || !this.pages.atEnd;
    const label = this.unseen > 0 ? t('new_events', { n: count(this.unseen) }) : t('to_latest');
    fill(this.foot,
      h('p', { class: 'events-status', key: 'status', 'data-test': 'event-status' }, this.status()),
      this.error && problem(this.error),
      h('button', { type: 'button', key: 'first', class: 'button quiet', 'data-test': 'events-first', on: { click: () => this.toStart() } },
        icon('up'), h('span', {}, t('to_first'))),
      h('button', {
        type: 'button', key: 'latest', class: this.unseen ? 'button primary' : 'button quiet', disabled: !more,
        'data-test': 'events-latest', on: { click: () => this.toEnd() },
      }, icon('down'), h('span', {}, label)));
  }

  status() {
    const { busy, events, atStart, scanned } = this.pages;
    if (busy && events.length === 0) return t('searching', { n: count(scanned) });
    if (events.length === 0) return t('no_events');
    return t(atStart ? 'all_events' : 'some_events', { n: count(events.length) });
  }

  // What the person does.

  scrolled() {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    const below = scrollHeight - clientHeight - scrollTop;
    this.following = this.pages.atEnd && below < this.rowHeight;
    if (this.following) this.unseen = 0;
    if (scrollTop < 40 * this.rowHeight) this.loadOlder();
    if (below < 40 * this.rowHeight) this.loadNewer();
    drawSoon(this.drawScrolled);
  }

  drawScrolled = () => {
    this.drawRows();
    this.drawFoot();
  };

  click(event) {
    const row = event.target.closest('.event');
    if (row) this.pick(Number(row.dataset.id));
  }

  key(event) {
    const { events } = this.pages;
    const page = Math.floor(this.scroller.clientHeight / this.rowHeight);
    const here = events.findIndex((one) => one.id === this.chosen);
    const from = here === -1 ? events.length : here;
    const to = { ArrowUp: from - 1, ArrowDown: from + 1, PageUp: from - page, PageDown: from + page, Home: 0, End: events.length - 1 }[event.key];
    if (to === undefined || events.length === 0) return;
    event.preventDefault();
    this.reveal(Math.max(0, Math.min(events.length - 1, to)));
  }

  reveal(index) {
    const top = index * this.rowHeight;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top + this.rowHeight > scrollTop + clientHeight) this.scroller.scrollTop = top + this.rowHeight - clientHeight;
    this.pick(this.pages.events[index].id);
  }

  pick(id) {
    this.chosen = id;
    this.drawRows();
    this.choose(this.pages.events.find((event) => event.id === id) ?? null);
  }
}

const TONE_ICONS = { bad: 'aborted', warn: 'retry', good: 'completed', plain: 'none' };
const TONES = {
  'error:fatal': 'bad', 'agent:error': 'bad', 'tool:failure': 'bad', 'workflow:abort': 'bad',
  'stage:retry': 'warn', 'system:warning': 'warn', 'session:compact-suggestion': 'warn',
  'stage:complete': 'good', 'workflow:complete': 'good', 'loop:complete': 'good',
};

function toneOf(event) {
  return Object.hasOwn(TONES, event.type) ? TONES[event.type] : 'plain';
}

// Shown in columns of their own, or for programs only.
const HEAD = new Set(['id', 'session', 'ts', 'type', 'category', 'label', 'stage']);
// Values that say enough without a name.
const BARE = new Set(['agent', 'workflowType', 'group', 'error', 'feature']);

/** What an event tells, in one line. */
export function summary(event) {
  return details(event).map(([name, text]) => (BARE.has(name) ? text : `${name} ${text}`)).join(' · ');
}

/** The fields of an event with their values in words. */
export function details(event) {
  return Object.entries(event)
    .filter(([name, value]) => !HEAD.has(name) && value !== null)
    .map(([name, value]) => (name === 'durationMs' ? [t('took'), duration(value)] : [name, inWords(name, value)]));
}

function inWords(name, value) {
  if (name === 'result') return word('result', value);
  if (Array.isArray(value)) return value.map((one) => inWords('', one)).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
