// Small components that several views share: badges, meters, times, facts.

import { h } from '../dom.js';
import { ago, clock, moment, percent, t, word } from '../text.js';
import { icon } from './icon.js';
import { areDone } from './pipeline.js';

/** A workflow whose stages are all done is not shown as running, although its end was not recorded yet. */
export function stateBadge({ state: recorded, stages }) {
  const state = recorded === 'running' && areDone(stages) ? 'finished' : recorded;
  return h('span', { class: 'badge', 'data-state': state, 'data-test': 'state' }, icon(state), word('state', state));
}

export function needsYouBadge() {
  return h('span', { class: 'badge needs-you', 'data-test': 'needs-you' }, icon('user'), t('needs_you'));
}

/** A relative time; the exact one is in the tooltip. */
export function when(at) {
  if (!at) return h('span', {}, '–');
  return h('time', { datetime: at, title: moment(at), 'data-ago': at }, ago(at));
}

/** A running clock. */
export function elapsed(since) {
  const millis = Date.now() - Date.parse(since);
  return h('time', { class: 'elapsed', 'data-since': since, title: moment(since) }, clock(millis));
}

/** Updates every running clock below `root`. */
export function tickClocks(root, now) {
  for (const element of root.querySelectorAll('[data-since]')) {
    write(element, clock(now - Date.parse(element.dataset.since)));
  }
  for (const element of root.querySelectorAll('[data-ago]')) write(element, ago(element.dataset.ago, now));
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A bar from 0 to 1 with its value as text. */
export function meter(fraction, text, label, tone = 'plain') {
  const full = Math.max(0, Math.min(1, fraction || 0));
  const bar = h('span', { class: 'meter-bar', style: { '--full': String(full) } });
  const props = { class: 'meter', role: 'img', 'aria-label': `${label}: ${text}`, 'data-tone': tone };
  return h('span', props, h('span', { class: 'meter-track' }, bar), h('span', { class: 'meter-text' }, text));
}

export function contextMeter(used) {
  const tone = used >= 90 ? 'bad' : used >= 70 ? 'warn' : 'plain';
  return meter(used / 100, percent(used / 100), t('context'), tone);
}

/** A label and a value; nothing without a value. */
export function fact(name, label, value) {
  const props = { class: 'fact', key: name, 'data-test': `fact-${name}` };
  return value && h('div', props, h('dt', {}, label), h('dd', {}, value));
}

/** A titled part of a view; `aside` stands beside the title. */
export function panel(name, title, aside, ...content) {
  const id = `panel-${name}`;
  return h('section', { class: `panel ${id}`, 'aria-labelledby': id, key: name, 'data-test': id },
    h('header', { class: 'panel-head' }, h('h2', { id }, title), aside), content);
}

export function empty(text) {
  return h('p', { class: 'empty' }, text);
}

/** An error message and a hint. */
export function problem(error) {
  const what = error.status === 0 ? t('unreachable') : error.message;
  const hint = error.status === 0 ? t('unreachable_hint') : error.hint;
  return h('div', { class: 'problem', role: 'alert', 'data-test': 'problem' }, icon('broken'),
    h('div', {}, h('p', { class: 'problem-what' }, what), hint && h('p', { class: 'problem-hint' }, hint)));
}

export function button(test, label, onClick, { kind = 'plain', symbol, ...props } = {}) {
  const own = { type: 'button', class: `button ${kind}`, 'data-test': test, on: { click: onClick } };
  return h('button', { ...own, ...props }, symbol && icon(symbol), h('span', {}, label));
}

/** A button with an icon only; its label is read aloud and shown on hovering. */
export function iconButton(test, label, symbol, onClick, props = {}) {
  const own = { type: 'button', class: 'button quiet icon-only', 'data-test': test, on: { click: onClick } };
  return h('button', { ...own, 'aria-label': label, title: label, ...props }, icon(symbol));
}

/** A labelled select. `options`: pairs of value and text. */
export function choice(name, label, value, options, change) {
  const items = options.map(([key, words]) => h('option', { value: key }, words));
  const props = { value, 'data-test': `filter-${name}`, on: { change: (event) => change(event.target.value) } };
  return h('label', { class: 'field', key: name },
    h('span', { class: 'field-name' }, label), h('select', props, items));
}

/** A few choices side by side. `options`: value, text and test name of each. */
export function segments(label, value, options, change) {
  const buttons = options.map(([key, words, test]) => h('button', {
    type: 'button', key: test, class: 'segment', 'aria-pressed': String(key === value), 'data-test': test,
    on: { click: () => change(key) },
  }, words));
  return h('div', { class: 'segments', role: 'group', 'aria-label': label }, buttons);
}

/** A labelled search field; `/` goes to it. */
export function searchField(label, value, change) {
  const input = h('input', {
    type: 'search', value, placeholder: label, 'data-test': 'filter-search', 'data-search': true,
    on: { input: (event) => change(event.target.value) },
  });
  return h('label', { class: 'field field-search', key: 'search' },
    h('span', { class: 'field-name' }, label), icon('search'), input);
}
