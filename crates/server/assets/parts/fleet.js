// The fleet above the sessions: the machines, and the features they work on.

import { h } from '../dom.js';
import { sessionPath } from '../paths.js';
import { count, t } from '../text.js';
import { empty, panel, problem, when } from './components.js';
import { icon } from './icon.js';

/** Both panels; nothing before the state of the fleet is loaded. */
export function fleetPanels(fleet) {
  if (!fleet) return null;
  return h('div', { class: 'fleet', key: 'fleet', 'data-test': 'fleet' },
    !fleet.connected && fleet.problem && problem({ message: t('fleet_cut_off'), hint: fleet.problem }),
    machines(fleet), features(fleet.features));
}

// Machines.

function machines({ machines: list, foreign, laterVersion }) {
  const present = list.filter((machine) => machine.present).length;
  const words = t('machines_present', { n: count(present), all: count(list.length) });
  const presentCount = h('span', { class: 'muted' }, words);
  return panel('machines', t('machines'), presentCount,
    list.length ? scroller(t('machines'), machineTable(list)) : empty(t('no_machines')),
    foreign > 0 && h('p', { class: 'muted', 'data-test': 'foreign' }, unreadableNote(foreign, laterVersion)));
}

function unreadableNote(n, version) {
  return version ? t('foreign_later', { n: count(n), version: count(version) }) : t('foreign', { n: count(n) });
}

/** Sorts the machines that are present first. */
function machineTable(list) {
  const sorted = list.toSorted((a, b) => Number(b.present) - Number(a.present) || a.name.localeCompare(b.name));
  const column = (name, isNumber) => h('th', { scope: 'col', class: isNumber && 'number' }, name);
  return h('table', { class: 'machine-table' },
    h('thead', {}, h('tr', {}, column(t('machine')), column(t('presence')), column(t('version')),
      column(t('load'), true), column(t('sessions'), true))),
    h('tbody', {}, sorted.map(machineRow)));
}

function machineRow({ id, name, present, lastSeen, version, load, processors, sessions }) {
  const state = present
    ? [icon('completed'), t('present')]
    : [icon('aborted'), t('gone'), ' ', when(lastSeen)];
  const props = { key: id, 'data-test': 'machine', 'data-id': id, 'data-present': String(present) };
  return h('tr', props,
    h('th', { scope: 'row' }, name),
    h('td', {}, h('span', { class: 'presence' }, state)),
    h('td', {}, version),
    h('td', { class: 'number' }, present ? `${load.toFixed(1)} / ${count(processors)}` : '–'),
    h('td', { class: 'number' }, count(sessions)));
}

// Features.

function features(list) {
  if (list.length === 0) return null;
  const sorted = list.toSorted((a, b) => Number(b.contested) - Number(a.contested));
  return panel('features', t('who_works_on_what'), null,
    scroller(t('who_works_on_what'), h('ul', { class: 'works' }, sorted.map(work))));
}

function work({ repository, feature, contested, workers }) {
  const props = { class: 'work', key: `${repository}/${feature}`, 'data-test': 'work', 'data-feature': feature };
  return h('li', { ...props, 'data-contested': String(contested) },
    h('div', { class: 'work-name' }, h('strong', {}, feature), h('span', { class: 'muted' }, repository)),
    contested && h('span', { class: 'badge needs-you', 'data-test': 'contested' }, icon('broken'), t('contested')),
    h('ul', { class: 'workers' }, workers.map(worker)));
}

function worker({ machine, name, session, present, hasClaim }) {
  const label = session ? h('a', { href: sessionPath(session) }, name) : h('span', {}, name);
  const notes = [hasClaim && t('has_claim'), !present && t('gone')].filter(Boolean).join(' · ');
  return h('li', { key: `${machine}/${session}`, 'data-test': 'worker' },
    icon('machine'), label, notes && h('span', { class: 'muted' }, notes));
}

/** A scrollable list, so that many machines do not push the sessions down. The keyboard scrolls it, too. */
function scroller(label, content) {
  return h('div', { class: 'fleet-scroll', tabindex: '0', role: 'group', 'aria-label': label }, content);
}
