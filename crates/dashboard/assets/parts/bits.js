// The small things that several views show: badges, meters, times, facts.

import { h } from '../dom.js';
import { ago, clock, moment, percent, t, word } from '../text.js';
import { icon } from './icon.js';

export function stateBadge(state) {
  return h('span', { class: 'badge', 'data-state': state, 'data-test': 'state' }, icon(state), word('state', state));
}

export function needsYouBadge() {
  return h('span', { class: 'badge needs-you', 'data-test': 'needs-you' }, icon('person'), t('needs_you'));
}

/** A point in time as people say it; the exact one is at hand. */
export function when(at) {
  if (!at) return h('span', {}, '–');
  return h('time', { datetime: at, title: moment(at), 'data-ago': at }, ago(at));
}

/** Time that goes on by itself. */
export function elapsed(since) {
  const millis = Date.now() - Date.parse(since);
  return h('time', { class: 'elapsed', 'data-since': since, title: moment(since) }, clock(millis));
}

/** Moves every running clock below `root` on. */
export function tickClocks(root, now) {
  for (const element of root.querySelectorAll('[data-since]')) {
    write(element, clock(now - Date.parse(element.dataset.since)));
  }
  for (const element of root.querySelectorAll('[data-ago]')) write(element, ago(element.dataset.ago, now));
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A bar from 0 to 1 with its value in words. */
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

/** Name and value; nothing when there is no value. */
export function fact(name, value, test) {
  if (value === null || value === undefined) return null;
  return h('div', { class: 'fact', key: name, 'data-test': test }, h('dt', {}, name), h('dd', {}, value));
}

/** A titled part of a view. */
export function panel(name, title, { aside, ...props }, ...content) {
  const id = `panel-${name}`;
  const head = h('header', { class: 'panel-head' }, h('h2', { id }, title), aside ?? null);
  return h('section', { class: `panel panel-${name}`, 'aria-labelledby': id, key: name, 'data-test': `panel-${name}`, ...props },
    head, content);
}

export function empty(text) {
  return h('p', { class: 'empty' }, text);
}

/** What went wrong, and what can be done about it. */
export function problem(error) {
  const what = error.status === 0 ? t('unreachable') : error.message;
  const hint = error.status === 0 ? t('unreachable_hint') : error.hint;
  return h('div', { class: 'problem', role: 'alert', 'data-test': 'problem' }, icon('broken'),
    h('div', {}, h('p', { class: 'problem-what' }, what), hint && h('p', { class: 'problem-hint' }, hint)));
}

export function button(name, label, press, { kind = 'plain', symbol, ...props } = {}) {
  return h('button', { type: 'button', class: `button ${kind}`, 'data-test': name, on: { click: press }, ...props },
    symbol && icon(symbol), h('span', {}, label));
}

/** A labelled choice. `options`: pairs of value and words. */
export function choice(name, label, value, options, change) {
  const items = options.map(([key, words]) => h('option', { value: key }, words));
  const select = h('select', { value, 'data-test': `filter-${name}`, on: { change: (event) => change(event.target.value) } }, items);
  return h('label', { class: 'field', key: name }, h('span', { class: 'field-name' }, label), select);
}

/** A labelled search field; `/` goes to it. */
export function searchField(label, value, change) {
  const type = (event) => change(event.target.value);
  const input = h('input', { type: 'search', value, placeholder: label, 'data-test': 'filter-search', 'data-search': true, on: { input: type } });
  return h('label', { class: 'field field-search', key: 'search' }, h('span', { class: 'field-name' }, label), icon('search'), input);
}
