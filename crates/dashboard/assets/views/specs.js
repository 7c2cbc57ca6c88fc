// The features of each project on their shelves. They are moved by menu or by drag and drop.

import { get } from '../api.js';
import { fill, h } from '../dom.js';
import { drawSoon, settle } from '../frame.js';
import { meter, problem } from '../parts/bits.js';
import { icon } from '../parts/icon.js';
import { moveFeature } from '../steer.js';
import { on } from '../store.js';
import { count, day, t, word } from '../text.js';

const SHELVES = ['backlog', 'in-progress', 'paused', 'archive'];
// A feature is archived by finishing its workflow, not by hand.
const TARGETS = SHELVES.slice(0, 3);

export function open(host) {
  return new Specs(host);
}

class Specs {
  projects = null;
  error = null;
  dragged = null;

  constructor(host) {
    this.host = host;
    this.reload = settle(() => this.load(), 1000, 5000);
    // Ticks and moves are made by the sessions; they tell of it.
    this.stops = [on('refresh', () => this.load()), on('session', this.reload)];
    this.draw();
    this.load();
  }

  close() {
    for (const stop of this.stops) stop();
    this.reload.cancel();
    this.isClosed = true;
  }

  async load() {
    try {
      this.projects = (await get('/api/specs')).projects;
      this.error = null;
    } catch (error) {
      this.error = error;
    }
    drawSoon(this.draw);
  }

  async move(project, feature, to) {
    if (await moveFeature(project, feature, to)) await this.load();
  }

  draw = () => {
    if (this.isClosed) return;
    fill(this.host, h('div', { class: 'view-head', key: 'head' }, h('h1', { tabindex: '-1' }, t('nav_specs'))),
      this.error && problem(this.error), this.content());
  };

  content() {
    if (!this.projects) return !this.error && h('p', { class: 'empty' }, t('loading'));
    if (this.projects.length === 0) return h('div', { class: 'welcome', key: 'none', 'data-test': 'no-specs' }, h('p', {}, t('no_specs')));
    return this.projects.map((project) => this.board(project));
  }

  board({ project, name, shelves }) {
    const id = `board-${project}`;
    return h('section', { key: project, 'aria-labelledby': id, 'data-test': 'board', 'data-project': project },
      h('h2', { class: 'section-title', id, title: project }, name),
      h('div', { class: 'board' }, SHELVES.map((shelf) => this.shelf(project, shelf, shelves[shelf] ?? []))));
  }

  shelf(project, shelf, features) {
    const id = `shelf-${shelf}-${project}`;
    const props = { class: 'shelf', key: shelf, 'aria-labelledby': id, 'data-test': 'shelf', 'data-shelf': shelf };
    return h('section', { ...props, on: TARGETS.includes(shelf) ? this.dropOn(project, shelf) : {} },
      h('h3', { id }, word('shelf', shelf), h('span', { class: 'shelf-count' }, count(features.length))),
      features.length ? h('ul', {}, features.map((feature) => this.card(project, shelf, feature))) : h('p', { class: 'empty' }, t('empty_shelf')));
  }

  card(project, shelf, feature) {
    const { name, workflow, checked, total, created, archivedAt } = feature;
    const isMovable = shelf !== 'archive';
    const at = archivedAt ?? created;
    return h('li', {
      class: 'feature-card', key: name, draggable: isMovable ? 'true' : null, 'data-test': 'feature-card', 'data-feature': name,
      on: { dragstart: (event) => this.drag(event, { project, name, shelf }), dragend: (event) => this.drop(event) },
    },
      h('div', { class: 'feature-head' }, h('h4', { title: name }, name), isMovable && this.menu(project, shelf, name)),
      h('p', { class: 'muted' }, [workflow, at && day(at)].filter(Boolean).join(' · ')),
      total > 0 && meter(checked / total, `${count(checked)}/${count(total)}`, t('tasks')));
  }

  // By menu.

  menu(project, shelf, name) {
    const items = TARGETS.filter((to) => to !== shelf).map((to) => h('button', {
      type: 'button', role: 'menuitem', tabindex: '-1', class: 'menu-item', 'data-test': 'move-to', 'data-to': to,
      on: { click: (event) => choose(event, () => this.move(project, name, to)) },
    }, t('move_to', { shelf: word('shelf', to) })));
    const list = h('div', { class: 'menu-list', role: 'menu', hidden: true, 'aria-label': t('move_feature', { feature: name }), on: { keydown: walk }, key: 'list', island: true }, items);
    return h('div', { class: 'menu', on: { focusout: closeWhenLeft } }, h('button', {
      type: 'button', class: 'button quiet icon-only', 'aria-haspopup': 'menu', 'aria-expanded': 'false',
      'aria-label': t('move_feature', { feature: name }), 'data-test': 'move-menu', on: { click: toggle, keydown: openWithArrow },
    }, icon('more')), list);
  }

  // By drag and drop.

  drag(event, feature) {
    this.dragged = feature;
    event.dataTransfer.effectAllowed = 'move';
    event.dataTransfer.setData('text/plain', feature.name);
    event.currentTarget.classList.add('dragged');
  }

  drop(event) {
    this.dragged = null;
    event.currentTarget.classList.remove('dragged');
  }

  dropOn(project, shelf) {
    const fits = () => this.dragged?.project === project && this.dragged.shelf !== shelf;
    const mark = (event, isOver) => event.currentTarget.classList.toggle('drop-target', isOver);
    return {
      dragover: (event) => {
        if (!fits()) return;
        event.preventDefault();
        mark(event, true);
      },
      dragleave: (event) => event.currentTarget.contains(event.relatedTarget) || mark(event, false),
      drop: (event) => {
        event.preventDefault();
        mark(event, false);
        if (fits()) this.move(project, this.dragged.name, shelf);
      },
    };
  }
}

// A menu as keyboards expect it: arrows walk, Escape closes and goes back to the button.

function setOpen(menu, isOpen) {
  const [button, list] = [menu.querySelector('[aria-haspopup]'), menu.querySelector('[role=menu]')];
  list.hidden = !isOpen;
  button.setAttribute('aria-expanded', String(isOpen));
  if (isOpen) list.firstElementChild.focus();
}

function toggle(event) {
  const menu = event.currentTarget.parentElement;
  setOpen(menu, menu.querySelector('[role=menu]').hidden);
}

function openWithArrow(event) {
  if (event.key !== 'ArrowDown') return;
  event.preventDefault();
  setOpen(event.currentTarget.parentElement, true);
}

function choose(event, act) {
  setOpen(event.currentTarget.closest('.menu'), false);
  act();
}

function closeWhenLeft(event) {
  if (!event.currentTarget.contains(event.relatedTarget)) setOpen(event.currentTarget, false);
}

function walk(event) {
  const list = event.currentTarget;
  const items = [...list.children];
  const here = items.indexOf(document.activeElement);
  const to = { ArrowDown: here + 1, ArrowUp: here - 1 + items.length, Home: 0, End: items.length - 1 }[event.key];
  if (event.key === 'Escape') {
    setOpen(list.parentElement, false);
    list.parentElement.querySelector('[aria-haspopup]').focus();
  } else if (to !== undefined) {
    event.preventDefault();
    items[to % items.length].focus();
  }
}
