// Who worked when: a row per stage, a bar per run of an agent, the compactions, and a line for now.

import { fill, h } from '../dom.js';
import { drawSoon } from '../frame.js';
import { agentOf, stageOf } from '../store.js';
import { clock, day, duration, minute, moment, t, time, word } from '../text.js';
import { icon } from './icon.js';

const MINUTE = 60_000;
const STEPS = [1000, 5000, 15_000, 30_000, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
  60 * MINUTE, 120 * MINUTE, 360 * MINUTE, 720 * MINUTE, 1440 * MINUTE, 7 * 1440 * MINUTE];
const ZOOMS = { all: Infinity, hour: 60 * MINUTE, quarter: 15 * MINUTE };
// Narrower neighbours are drawn as one bar: nobody could tell them apart, and thousands would be slow.
const THIN = 4;
const BAD = new Set(['fail', 'reject', 'error']);

export class Gantt {
  zoom = 'all';
  data = { stages: [], spans: [], compactionsAt: [], isOpen: false };
  current = null;

  constructor(host) {
    this.host = host;
    this.width = new ResizeObserver(() => drawSoon(this.draw));
    this.width.observe(host);
  }

  close() {
    this.width.disconnect();
  }

  update(data) {
    this.data = data;
    this.draw();
  }

  /** Time goes on: usually only the line and the running bars move. */
  tick(now) {
    if (!this.data.isOpen || !this.range) return;
    if (now >= this.range.end) return this.draw();
    this.host.style.setProperty('--now', this.place(now));
    for (const bar of this.host.querySelectorAll('[data-running]')) {
      bar.style.setProperty('--width', this.place(now) - Number(bar.style.getPropertyValue('--left')));
    }
  }

  draw = () => {
    const bars = this.data.spans.map(toBar).filter((bar) => Number.isFinite(bar.start));
    if (bars.length === 0) return fill(this.host, h('p', { class: 'empty' }, t('gantt_empty')));
    const now = Date.now();
    this.setRange(bars, now);
    const shown = bars.filter((bar) => (bar.end ?? now) >= this.range.start);
    const rows = this.rows(shown).map((row) => this.row(row, now));
    this.host.style.setProperty('--now', this.place(now));
    fill(this.host, this.zooms(bars, now), h('div', { class: 'gantt-grid' }, this.axis(), rows, this.overlay()), this.tip());
    this.keepOneTabStop();
  };

  setRange(bars, now) {
    const last = this.data.isOpen ? now : Math.max(...bars.map((bar) => bar.end ?? bar.start));
    const first = Math.max(Math.min(...bars.map((bar) => bar.start)), last - ZOOMS[this.zoom]);
    const length = Math.max(last - first, 1000);
    // Room on the right: the line for now can move for a while before everything is drawn again.
    this.range = { start: first, end: last + length * (this.data.isOpen ? 0.06 : 0.01) };
  }

  /** Where a moment is, in per cent of the track. */
  place(at) {
    const { start, end } = this.range;
    return (100 * (Math.max(at, start) - start)) / (end - start);
  }

  trackWidth() {
    return this.host.querySelector('.gantt-track')?.clientWidth || this.host.clientWidth || 800;
  }

  rows(bars) {
    const order = new Map(this.data.stages.map((stage, index) => [stage.key, index]));
    const rows = new Map();
    for (const bar of bars) {
      const name = rowName(bar, order);
      if (!rows.has(name)) rows.set(name, { name, stageBars: [], agentBars: [] });
      rows.get(name)[bar.kind === 'agent' ? 'agentBars' : 'stageBars'].push(bar);
    }
    const rank = (row) => order.get(row.name) ?? order.size;
    return [...rows.values()].sort((a, b) => rank(a) - rank(b));
  }

  row({ name, stageBars, agentBars }, now) {
    const { emoji, label, color } = rowLook(name);
    const bars = agentBars.length ? agentBars : stageBars;
    const lanes = toLanes(bars.toSorted((a, b) => a.start - b.start), now).map((lane) => this.merged(lane, now));
    const bands = agentBars.length ? stageBars.map((bar) => this.band(bar, now)) : [];
    const buttons = lanes.flatMap((lane, index) => lane.map((bar) => this.bar(bar, index, now)));
    const props = { class: 'gantt-row', role: 'group', 'aria-label': `${name} ${label}`, key: name, 'data-color': color };
    return h('div', { ...props, style: { '--lanes': String(lanes.length) } },
      h('div', { class: 'gantt-name', title: label, 'aria-hidden': 'true' }, h('span', { class: 'gantt-emoji' }, emoji), h('span', {}, name)),
      h('div', { class: 'gantt-track' }, bands, buttons));
  }

  band(bar, now) {
    const props = { class: 'gantt-band', key: `band-${bar.start}`, 'data-running': bar.end === null };
    return h('div', { ...props, style: this.box(bar, now) });
  }

  bar(bar, lane, now) {
    const text = describe(bar, now);
    const key = `${bar.kind}-${bar.agent}-${bar.start}-${lane}`;
    const point = () => this.point(key, text);
    return h('button', {
      type: 'button', class: 'gantt-bar', key, tabindex: '-1', 'aria-label': text.join(' · '),
      'data-test': 'gantt-bar', 'data-key': bar.key, 'data-result': bar.result, 'data-bad': BAD.has(bar.result),
      'data-running': bar.end === null, style: { ...this.box(bar, now), '--lane': String(lane) },
      on: { focus: point, pointerenter: point, blur: this.leave, pointerleave: this.leave, keydown: (event) => this.move(event) },
    }, h('span', { class: 'gantt-text' }, barText(bar)));
  }

  box(bar, now) {
    const left = this.place(bar.start);
    return { '--left': String(left), '--width': String(this.place(bar.end ?? now) - left) };
  }

  /** Joins thin neighbours of a lane that would touch. */
  merged(bars, now) {
    const pixel = 100 / this.trackWidth();
    const isThin = (bar) => this.place(bar.end ?? now) - this.place(bar.start) < THIN * pixel;
    const joined = [];
    for (const bar of bars) {
      const last = joined.at(-1);
      const isNear = last?.end && this.place(bar.start) - this.place(last.end) < 2 * pixel;
      if (isNear && bar.end !== null && last.mergeable && isThin(bar)) joinTo(last, bar);
      else joined.push({ ...bar, runs: 1, mergeable: isThin(bar) });
    }
    return joined;
  }

  axis() {
    const { start, end } = this.range;
    const most = Math.max(2, Math.floor(this.trackWidth() / 84));
    const step = STEPS.find((size) => (end - start) / size <= most) ?? STEPS.at(-1);
    const label = step < MINUTE ? time : step < 1440 * MINUTE ? minute : day;
    // Ticks at round local times, not at round UTC ones.
    const shift = new Date(start).getTimezoneOffset() * MINUTE;
    const ticks = [];
    for (let at = Math.ceil((start - shift) / step) * step + shift; at < end; at += step) {
      ticks.push(h('span', { class: 'gantt-tick', key: at, style: { '--left': String(this.place(at)) } }, label(at)));
    }
    return h('div', { class: 'gantt-axis', 'aria-hidden': 'true' }, ticks);
  }

  overlay() {
    const marks = this.data.compactionsAt.map(Date.parse).filter((at) => at >= this.range.start).map((at) => {
      const label = `${t('compaction')} ${moment(at)}`;
      const props = { class: 'gantt-compaction', key: at, role: 'img', 'aria-label': label, title: label, 'data-test': 'gantt-compaction' };
      return h('span', { ...props, style: { '--left': String(this.place(at)) } }, icon('fold'));
    });
    const now = this.data.isOpen && h('span', { class: 'gantt-now', 'data-test': 'gantt-now' }, h('span', {}, t('now')));
    return h('div', { class: 'gantt-overlay', key: 'overlay' }, marks, now);
  }

  zooms(bars, now) {
    const length = (this.data.isOpen ? now : this.range.end) - Math.min(...bars.map((bar) => bar.start));
    const useful = Object.keys(ZOOMS).filter((name) => name === 'all' || ZOOMS[name] < length);
    const buttons = useful.map((name) => h('button', {
      type: 'button', key: name, class: 'segment', 'aria-pressed': String(name === this.zoom), 'data-test': `zoom-${name}`,
      on: { click: () => this.setZoom(name) },
    }, t(`zoom_${name}`)));
    return h('div', { class: 'segments gantt-zoom', role: 'group', 'aria-label': t('zoom') }, buttons.length > 1 && buttons);
  }

  setZoom(name) {
    this.zoom = name;
    this.draw();
  }

  // Details of the bar that is pointed at or focused.

  tip() {
    return h('div', { class: 'gantt-tip', key: 'tip', island: true, hidden: true, 'aria-hidden': 'true', 'data-test': 'gantt-tip' });
  }

  point(key, text) {
    this.current = key;
    this.keepOneTabStop();
    const tip = this.host.querySelector('.gantt-tip');
    const bar = this.bars().find((element) => element.key === key);
    fill(tip, text.map((line, index) => h('span', { key: index }, line)));
    tip.hidden = false;
    placeTip(tip, bar, this.host);
  }

  leave = () => {
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

  move(event) {
    const bars = this.bars();
    const here = bars.indexOf(event.target);
    const to = { ArrowLeft: here - 1, ArrowRight: here + 1, ArrowUp: here - 1, ArrowDown: here + 1, Home: 0, End: bars.length - 1 }[event.key];
    if (to === undefined || !bars[to]) return;
    event.preventDefault();
    bars[to].focus();
  }
}

function toBar(span) {
  return { ...span, start: Date.parse(span.start), end: span.end ? Date.parse(span.end) : null };
}

/** The row of a bar: its stage in this workflow, else its agent (a debugger that repairs has no stage here). */
function rowName(bar, order) {
  if (order.has(bar.key)) return bar.key;
  return bar.agent ?? bar.key ?? '';
}

function rowLook(name) {
  const agent = agentOf(name);
  const stage = stageOf(agent.stage ?? name);
  return agent.stage ? { ...stage, label: stage.label } : stage;
}

/** Bars that overlap go to lanes of their own. */
function toLanes(bars, now) {
  const lanes = [];
  for (const bar of bars) {
    const free = lanes.find((lane) => (lane.at(-1).end ?? now) <= bar.start);
    if (free) free.push(bar);
    else lanes.push([bar]);
  }
  return lanes;
}

function joinTo(last, bar) {
  last.end = bar.end;
  last.runs += 1;
  if (BAD.has(bar.result)) last.result = bar.result;
}

function barText(bar) {
  if (bar.runs > 1) return `×${bar.runs}`;
  return [bar.agent ?? bar.key, bar.attempt > 1 && `×${bar.attempt}`, BAD.has(bar.result) && '✕'].filter(Boolean).join(' ');
}

function describe(bar, now) {
  const lines = [[bar.agent, bar.key].filter(Boolean).join(' · ')];
  if (bar.runs > 1) lines.push(t('merged_runs', { n: bar.runs }));
  const result = bar.end === null ? t('still_running') : bar.result ? word('result', bar.result) : null;
  if (result) lines.push(bar.attempt > 1 ? `${result} · ${t('attempt', { n: bar.attempt })}` : result);
  const length = bar.end === null ? clock(now - bar.start) : duration(bar.end - bar.start);
  lines.push(`${time(bar.start)} – ${bar.end === null ? '…' : time(bar.end)} · ${length}`);
  return lines;
}

function placeTip(tip, bar, host) {
  const [box, frame] = [bar.getBoundingClientRect(), host.getBoundingClientRect()];
  const left = Math.min(Math.max(0, box.left - frame.left), Math.max(0, frame.width - tip.offsetWidth));
  tip.style.setProperty('left', `${left}px`);
  tip.style.setProperty('top', `${box.bottom - frame.top + 6}px`);
}
