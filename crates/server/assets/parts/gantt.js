// The chart of a session: a row per stage, a bar per run of an agent, the compactions, and a line for now.

import { fill, h } from '../dom.js';
import { drawSoon } from '../schedule.js';
import { agentOf, stageOf } from '../store.js';
import { clock, count, day, duration, minute, moment, t, time, word } from '../text.js';
import { segments } from './components.js';
import { icon } from './icon.js';
import { DAY, HOUR, merge, ticks, toBar, toLanes, toRows } from './spans.js';

const ZOOMS = { all: Infinity, hour: HOUR, quarter: HOUR / 4 };
const TICK_WIDTH = 84;
const LABEL_WIDTH = 60;

export class Gantt {
  zoom = 'all';
  data = { stages: [], spans: null, compactionsAt: [], active: new Set(), isOpen: false };
  current = null;

  constructor(host) {
    this.host = host;
    this.size = new ResizeObserver(() => drawSoon(this.draw));
    this.size.observe(host);
  }

  close() {
    this.size.disconnect();
  }

  /** Spans are replaced as a whole when they change, so an identical list needs no drawing. */
  update(data) {
    const isNew = data.spans !== this.data.spans || data.isOpen !== this.data.isOpen;
    this.data = data;
    if (isNew) this.draw();
  }

  /** Advances the time: usually only the line and the running bars move. */
  tick(now) {
    if (!this.data.isOpen || !this.range) return;
    if (now >= this.range.end) return this.draw();
    this.host.style.setProperty('--now', this.position(now));
    for (const bar of this.host.querySelectorAll('[data-running]')) {
      bar.style.setProperty('--width', this.position(now) - Number(bar.style.getPropertyValue('--left')));
    }
  }

  // Drawing.

  draw = () => {
    const { spans, active } = this.data;
    const bars = (spans ?? []).map((span) => toBar(span, active)).filter((bar) => Number.isFinite(bar.start));
    if (bars.length === 0) return fill(this.host, h('p', { class: 'empty' }, t('gantt_empty')));
    this.now = Date.now();
    const length = this.setRange(bars);
    const shown = bars.filter((bar) => (bar.end ?? this.now) >= this.range.start);
    const rows = toRows(shown, this.data.stages.map((stage) => stage.key)).map(([name, list]) => this.row(name, list));
    this.host.style.setProperty('--now', this.position(this.now));
    const grid = h('div', { class: 'gantt-grid' }, this.axis(), rows, this.overlay());
    const tip = { class: 'gantt-tip', hidden: true, 'aria-hidden': 'true', 'data-test': 'gantt-tip' };
    fill(this.host, this.zooms(length), grid, h('div', { ...tip, key: 'tip', island: true }));
    this.keepOneTabStop();
  };

  /** Sets the visible range and returns its length. */
  setRange(bars) {
    const last = this.data.isOpen ? this.now : Math.max(...bars.map((bar) => bar.end ?? bar.start));
    const first = Math.min(...bars.map((bar) => bar.start));
    const start = Math.max(first, last - ZOOMS[this.zoom]);
    // Leave a margin on the right, so that the line for now can move before everything is drawn again.
    const margin = Math.max(last - start, 1000) * (this.data.isOpen ? 0.06 : 0.01);
    this.range = { start, end: last + margin };
    return last - first;
  }

  /** The position of a time, in per cent of the track. */
  position(at) {
    const { start, end } = this.range;
    return (100 * (Math.max(at, start) - start)) / (end - start);
  }

  box(bar) {
    const left = this.position(bar.start);
    return { '--left': String(left), '--width': String(this.position(bar.end ?? this.now) - left) };
  }

  get trackWidth() {
    return this.host.querySelector('.gantt-track')?.clientWidth || this.host.clientWidth || 800;
  }

  zooms(length) {
    const useful = Object.keys(ZOOMS).filter((name) => name === 'all' || ZOOMS[name] < length);
    const names = useful.map((name) => [name, t(`zoom_${name}`), `zoom-${name}`]);
    const set = (name) => {
      this.zoom = name;
      this.draw();
    };
    const choices = useful.length > 1 && segments(t('zoom'), this.zoom, names, set);
    return h('div', { class: 'gantt-zoom', key: 'zoom' }, choices);
  }

  axis() {
    const { start, end } = this.range;
    const { step, times } = ticks(start, end, Math.max(2, Math.floor(this.trackWidth / TICK_WIDTH)));
    const label = step < 60_000 ? time : step < DAY ? minute : day;
    // A label that does not fit is omitted.
    const last = 100 * (1 - LABEL_WIDTH / this.trackWidth);
    const shown = times.filter((at) => this.position(at) < last);
    const marks = shown.map((at) =>
      h('span', { class: 'gantt-tick', key: at, style: { '--left': String(this.position(at)) } }, label(at)));
    return h('div', { class: 'gantt-axis', 'aria-hidden': 'true' }, marks);
  }

  row(name, list) {
    const { emoji, label, color } = stageOf(agentOf(name).stage ?? name);
    const { agent: runs = [], stage: stages = [] } = Object.groupBy(list, (bar) => bar.kind);
    const pixel = (this.range.end - this.range.start) / this.trackWidth;
    const lanes = toLanes(runs.length ? runs : stages, this.now).map((lane) => merge(lane, pixel));
    const props = { class: 'gantt-row', key: name, 'data-color': color, style: { '--lanes': String(lanes.length) } };
    return h('div', { ...props, role: 'group', 'aria-label': `${name} ${label}` },
      h('div', { class: 'gantt-name', title: label, 'aria-hidden': 'true' }, h('span', {}, emoji), h('span', {}, name)),
      h('div', { class: 'gantt-track' },
        runs.length > 0 && stages.map((bar) => this.band(bar)),
        lanes.flatMap((lane, index) => lane.map((bar) => this.bar(bar, index)))));
  }

  /** The stage behind the runs of its agents. */
  band(bar) {
    const props = { class: 'gantt-band', key: `band-${bar.start}`, 'data-running': bar.end === null };
    return h('div', { ...props, style: this.box(bar) });
  }

  bar(bar, lane) {
    const text = barText(bar);
    const lines = details(bar, this.now);
    const key = `${bar.kind}-${bar.agent}-${bar.start}-${lane}`;
    const showTip = (event) => this.showTip(key, event.currentTarget, lines);
    const { hideTip, moveFocus } = this;
    return h('button', {
      type: 'button', class: 'gantt-bar', key, tabindex: '-1',
      'aria-label': [text, bar.key, ...lines.slice(1)].join(' · '),
      'data-test': 'gantt-bar', 'data-key': bar.key,
      'data-bad': bar.bad === bar.runs, 'data-running': bar.end === null,
      style: { ...this.box(bar), '--lane': String(lane) },
      on: { focus: showTip, pointerenter: showTip, blur: hideTip, pointerleave: hideTip, keydown: moveFocus },
    }, h('span', { class: 'gantt-text' }, text));
  }

  overlay() {
    const times = this.data.compactionsAt.map(Date.parse).filter((at) => at >= this.range.start);
    return h('div', { class: 'gantt-overlay', key: 'overlay' },
      times.map((at) => this.compaction(at)),
      this.data.isOpen && h('span', { class: 'gantt-now', 'data-test': 'gantt-now' }, h('span', {}, t('now'))));
  }

  compaction(at) {
    const title = `${t('compaction')} ${moment(at)}`;
    const style = { '--left': String(this.position(at)) };
    const props = { class: 'gantt-compaction', key: at, title, style, 'data-test': 'gantt-compaction' };
    return h('span', { ...props, role: 'img', 'aria-label': title }, icon('fold'));
  }

  // Details of the bar that is pointed at or focused.

  showTip(key, bar, lines) {
    this.current = key;
    this.keepOneTabStop();
    const tip = this.host.querySelector('.gantt-tip');
    fill(tip, lines.map((line) => h('span', {}, line)));
    tip.hidden = false;
    placeBelow(tip, bar.getBoundingClientRect(), this.host.getBoundingClientRect());
  }

  hideTip = () => {
    this.host.querySelector('.gantt-tip').hidden = true;
  };

  // One tab stop for all bars; arrow keys go from bar to bar.

  bars() {
    return [...this.host.querySelectorAll('.gantt-bar')];
  }

  keepOneTabStop() {
    const bars = this.bars();
    const chosen = bars.find((bar) => bar.key === this.current) ?? bars.at(-1);
    for (const bar of bars) bar.tabIndex = bar === chosen ? 0 : -1;
  }

  moveFocus = (event) => {
    const bars = this.bars();
    const here = bars.indexOf(event.currentTarget);
    const steps = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -here, End: bars.length - 1 - here };
    const to = bars[here + steps[event.key]];
    if (!to) return;
    event.preventDefault();
    to.focus();
  };
}

function barText({ runs, bad, agent, key, attempt }) {
  if (runs > 1) return [`×${count(runs)}`, bad > 0 && `✕ ${count(bad)}`].filter(Boolean).join(' · ');
  return [agent || key, attempt > 1 && `×${count(attempt)}`, bad > 0 && '✕'].filter(Boolean).join(' ');
}

function details(bar, now) {
  const { agent, key, runs, bad, attempt, start } = bar;
  const single = [outcome(bar), attempt > 1 && t('attempt', { n: count(attempt) })].filter(Boolean).join(' · ');
  return [
    [agent, key].filter(Boolean).join(' · '),
    runs > 1 ? t('merged_runs', { n: count(runs), bad: count(bad) }) : single,
    `${time(start)} – ${until(bar, now)}`,
  ].filter(Boolean);
}

function outcome({ end, isLost, result }) {
  if (isLost) return t('end_unknown');
  return end === null ? t('still_running') : result && word('result', result);
}

function until({ start, end, isLost }, now) {
  if (isLost) return '?';
  return end === null ? `… · ${clock(now - start)}` : `${time(end)} · ${duration(end - start)}`;
}

function placeBelow(tip, bar, frame) {
  const left = Math.min(Math.max(0, bar.left - frame.left), Math.max(0, frame.width - tip.offsetWidth));
  tip.style.setProperty('left', `${left}px`);
  tip.style.setProperty('top', `${bar.bottom - frame.top + 6}px`);
}
