// The filter above the event list, and the details of one event.

import { h } from '../dom.js';
import { button, searchField } from '../parts/components.js';
import { eventKinds, eventLabel } from '../store.js';
import { moment, t, word } from '../text.js';

/** `change` gets `{kind}` (a category, a type, or nothing) or `{q}`. */
export function eventFilter({ kind, q }, change) {
  const changeKind = (event) => change({ kind: event.target.value });
  const select = h('select', { value: kind, 'data-test': 'filter-kind', on: { change: changeKind } },
    h('option', { value: '' }, t('all_kinds')), groups());
  return h('div', { class: 'filters filters-inline', role: 'search' },
    h('label', { class: 'field', key: 'kind' }, h('span', { class: 'field-name' }, t('kind')), select),
    searchField(t('search_events'), q, (text) => change({ q: text })));
}

function groups() {
  return [...Map.groupBy(eventKinds(), (kind) => kind.category)].map(([category, members]) => {
    const name = word('category', category);
    return h('optgroup', { label: name },
      h('option', { value: category }, t('whole_category', { category: name })),
      members.map(({ type, label }) => h('option', { value: type }, label)));
  });
}

// Fields that are shown elsewhere, or are the same for all events here.
const SHOWN_ELSEWHERE = new Set(['label', 'session', 'category']);

/** Everything in an event, as it was recorded. */
export function eventDetails(event, close) {
  const fields = Object.entries(event).filter(([name]) => !SHOWN_ELSEWHERE.has(name));
  const props = { class: 'event-details', key: 'details', 'data-test': 'event-details' };
  return h('section', { ...props, 'aria-label': t('event_details') },
    h('header', {},
      h('h3', {}, eventLabel(event)),
      h('span', { class: 'muted' }, moment(event.ts)),
      button('close-details', t('close'), close, { kind: 'quiet' })),
    h('dl', {}, fields.map(([name, value]) => [h('dt', {}, name), h('dd', {}, asText(value))])));
}

function asText(value) {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
