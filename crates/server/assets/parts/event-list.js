// The event list: as long as the timeline, with only the visible rows in the document.
//
// All rows have the same height, so that the position of each follows from its index.

import { fill, h } from '../dom.js';
import { drawSoon } from '../schedule.js';
import { eventLabel, eventTone, stageOf } from '../store.js';
import { bytes, count, duration, moment, t, time, word } from '../text.js';
import { button, problem } from './components.js';
import { icon } from './icon.js';
import { Pages } from './timeline-pages.js';

const ROW_HEIGHT = 30;
const ROW_HEIGHT_NARROW = 48;
// Rows drawn above and below the visible ones, and the distance from an end at which more are loaded.
const SPARE_ROWS = 12;
const PRELOAD_ROWS = 40;
const NARROW = matchMedia('(max-width: 640px)');

export class EventList {
  following = true;
  followedTo = 0;
  unseen = 0;
  selected = null;
  error = null;
  olderPage = null;
  newerPage = null;

  /** `onSelect(event)` is called for the event that the user selects. */
  constructor(host, session, onSelect) {
    this.pages = new Pages(session);
    this.onSelect = onSelect;
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
    // Responses that are still pending are ignored.
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
    return NARROW.matches ? ROW_HEIGHT_NARROW : ROW_HEIGHT;
  }

  // Data.

  setFilter(filter) {
    this.selected = null;
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
    this.loading = this.tryLoad(load);
    this.draw();
    await this.loading;
    this.draw();
    if (!follow) this.scroller.scrollTop = 0;
    await this.fillView();
  }

  /** An error is shown below the list; the next attempt clears it. */
  async tryLoad(load) {
    try {
      this.error = null;
      return await load();
    } catch (error) {
      this.error = error;
      return 0;
    }
  }

  /** Loads older pages until the list fills its view or begins: a page may have no match of the filter. */
  async fillView() {
    const { round } = this.pages;
    const needsMore = () =>
      round === this.pages.round && !this.error && !this.pages.atStart && this.pages.pages.length > 0 &&
      this.pages.events.length * this.rowHeight < this.scroller.clientHeight;
    while (needsMore()) await this.loadOlder();
  }

  /** Calls while a page is being loaded wait for that page. */
  loadOlder() {
    this.olderPage ??= this.grow(() => this.pages.loadOlder()).finally(() => (this.olderPage = null));
    return this.olderPage;
  }

  loadNewer() {
    this.newerPage ??= this.grow(() => this.pages.loadNewer()).finally(() => (this.newerPage = null));
    return this.newerPage;
  }

  /** Loads a page. `load` returns by how many rows the front grew, and the visible rows keep their position. */
  async grow(load) {
    const rows = await this.tryLoad(load);
    this.layOut();
    if (!this.following) this.scroller.scrollTop += rows * this.rowHeight;
    this.draw();
  }

  /** An event of the stream. */
  add(event) {
    const isShown = this.pages.add(event);
    if (!isShown) return;
    if (!this.following) this.unseen += 1;
    else if (!this.pages.atEnd) this.toEnd();
    this.drawLater();
  }

  /** Loads the events of an interruption of the stream. A page that is being loaded may have been read before it. */
  async catchUp() {
    await this.loading;
    // A user who looks at older events stays there.
    if (!this.following && !this.pages.atEnd) return;
    const before = this.pages.events.length;
    await this.tryLoad(() => this.pages.catchUp());
    if (!this.following) this.unseen += Math.max(0, this.pages.events.length - before);
    this.drawLater();
  }

  // Drawing.

  drawLater = () => drawSoon(this.draw);

  resize = () => this.drawLater();

  draw = () => {
    this.layOut();
    if (this.following) this.follow();
    this.drawRows();
    this.drawFoot();
  };

  /** Scrolls to the end. A later position above this one means that the user scrolled up. */
  follow() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.followedTo = this.scroller.scrollTop;
  }

  layOut() {
    this.host.style.setProperty('--row', `${this.rowHeight}px`);
    this.space.style.setProperty('height', `${this.pages.events.length * this.rowHeight}px`);
  }

  drawRows() {
    const { events } = this.pages;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / this.rowHeight) - SPARE_ROWS);
    const seen = Math.ceil(this.scroller.clientHeight / this.rowHeight) + 2 * SPARE_ROWS;
    this.rows.style.setProperty('transform', `translateY(${first * this.rowHeight}px)`);
    fill(this.rows, events.slice(first, first + seen).map((event) => this.row(event)));
    const selected = this.selected === null ? null : `event-${this.selected}`;
    if (selected && document.getElementById(selected)) this.scroller.setAttribute('aria-activedescendant', selected);
    else this.scroller.removeAttribute('aria-activedescendant');
  }

  row(event) {
    const isSelected = event.id === this.selected;
    const stage = event.stage ? stageOf(event.stage) : null;
    const tone = eventTone(event);
    const props = { class: 'event', role: 'option', key: event.id, id: `event-${event.id}`, 'data-test': 'event-row' };
    const about = { 'data-id': event.id, 'data-type': event.type, 'data-tone': tone, 'data-color': stage?.color };
    return h('div', { ...props, ...about, 'aria-selected': String(isSelected) },
      h('time', { class: 'event-time', datetime: event.ts, title: moment(event.ts) }, time(event.ts)),
      h('span', { class: 'event-label' }, icon(TONE_ICONS[tone]), h('span', {}, eventLabel(event))),
      h('span', { class: 'event-stage' }, stage && `${stage.emoji} ${event.stage}`),
      h('span', { class: 'event-text' }, summary(event)));
  }

  drawFoot() {
    const canJump = this.unseen > 0 || !this.following || !this.pages.atEnd;
    const label = this.unseen > 0 ? t('new_events', { n: count(this.unseen) }) : t('to_latest');
    fill(this.foot,
      h('p', { class: 'events-status', key: 'status', 'data-test': 'event-status' }, this.status()),
      this.error && problem(this.error),
      button('events-first', t('to_first'), () => this.toStart(), { key: 'first', symbol: 'up', kind: 'quiet' }),
      button('events-latest', label, () => this.toEnd(), {
        key: 'latest', symbol: 'down', kind: this.unseen > 0 ? 'primary' : 'quiet', disabled: !canJump,
      }));
  }

  status() {
    const { loading, events, atStart, scanned, skipped } = this.pages;
    if (loading.size > 0 && events.length === 0) return t('searching', { size: bytes(scanned) });
    const number = t(atStart ? 'all_events' : 'some_events', { n: count(events.length) });
    const unreadable = skipped > 0 && t('unreadable_lines', { n: count(skipped) });
    return [events.length ? number : t('no_events'), unreadable].filter(Boolean).join(' · ');
  }

  // User input.

  scrolled() {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    const below = scrollHeight - clientHeight - scrollTop;
    if (below < this.rowHeight) this.resumeFollowing();
    else if (scrollTop < this.followedTo) this.following = false;
    if (scrollTop < PRELOAD_ROWS * this.rowHeight && !this.pages.atStart) this.loadOlder();
    if (below < PRELOAD_ROWS * this.rowHeight && !this.pages.atEnd) this.loadNewer();
    drawSoon(this.drawScrolled);
  }

  resumeFollowing() {
    if (!this.pages.atEnd) return;
    this.following = true;
    this.unseen = 0;
  }

  drawScrolled = () => {
    this.drawRows();
    this.drawFoot();
  };

  click(event) {
    const row = event.target.closest('.event');
    if (row) this.select(Number(row.dataset.id));
  }

  key(event) {
    const { events } = this.pages;
    const page = Math.floor(this.scroller.clientHeight / this.rowHeight);
    const here = events.findIndex((one) => one.id === this.selected);
    const from = here === -1 ? events.length : here;
    const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
    if (!Object.hasOwn(steps, event.key) || events.length === 0) return;
    event.preventDefault();
    this.reveal(Math.max(0, Math.min(events.length - 1, from + steps[event.key])));
  }

  reveal(index) {
    const top = index * this.rowHeight;
    const lowest = top + this.rowHeight - this.scroller.clientHeight;
    this.scroller.scrollTop = Math.max(lowest, Math.min(top, this.scroller.scrollTop));
    this.select(this.pages.events[index].id);
  }

  select(id) {
    this.selected = id;
    this.drawRows();
    this.onSelect(this.pages.events.find((event) => event.id === id) ?? null);
  }
}

const TONE_ICONS = { bad: 'aborted', warn: 'retry', good: 'completed', plain: 'dot' };

// Fields that are shown in columns of their own, or are for programs only: `receipts` says the same as `checks`.
const HEAD = new Set(['id', 'session', 'ts', 'type', 'category', 'label', 'stage', 'agentId', 'checks']);
// Fields whose values are clear without the name.
const UNNAMED = new Set(['agent', 'workflowType', 'group', 'error', 'feature', 'result', 'reason']);

/** The other fields of an event in one line. */
function summary(event) {
  const isShown = ([name, value]) => value !== null && !HEAD.has(name) && !(name === 'slot' && value === event.agent);
  return Object.entries(event).filter(isShown).map(([name, value]) => fieldText(name, value)).join(' · ');
}

function fieldText(name, value) {
  if (name === 'durationMs') return duration(value);
  if (name === 'attempt') return t('attempt', { n: count(value) });
  if (name === 'result') return word('result', value);
  return UNNAMED.has(name) ? asText(value) : `${name} ${asText(value)}`;
}

function asText(value) {
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
