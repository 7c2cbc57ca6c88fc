// The features of each project on their shelves. They are moved by menu or by drag and drop.

import { get } from '../api.js';
import { moveFeature } from '../commands.js';
import { h } from '../dom.js';
import { problem } from '../parts/components.js';
import { menu } from '../parts/menu.js';
import { taskMeter } from '../parts/session.js';
import { count, day, t, word } from '../text.js';
import { View } from '../view.js';

const SHELVES = ['backlog', 'in-progress', 'paused', 'archive'];
// A feature is archived by finishing its workflow, not by hand.
const TARGETS = SHELVES.slice(0, 3);

export function open(host) {
  return new Specs(host);
}

class Specs extends View {
  projects = null;
  dragged = null;

  constructor(host) {
    super(host);
    // Sessions tick tasks and move features, and the stream reports it.
    this.listen('session', this.loadWhenQuiet(1000, 5000));
    this.draw();
    this.load();
  }

  fetch() {
    return get('/api/specs');
  }

  take({ projects }) {
    this.projects = projects;
  }

  async move(project, feature, to) {
    if (await moveFeature(project, feature, to)) await this.load();
  }

  content() {
    return [
      h('div', { class: 'view-head', key: 'head' }, h('h1', { tabindex: '-1' }, t('nav_specs'))),
      this.error && problem(this.error),
      this.boards(),
    ];
  }

  boards() {
    if (!this.projects) return !this.error && h('p', { class: 'empty' }, t('loading'));
    if (this.projects.length > 0) return this.projects.map((project) => this.board(project));
    return h('div', { class: 'welcome', key: 'none', 'data-test': 'no-specs' }, h('p', {}, t('no_specs')));
  }

  board({ project, name, shelves }) {
    const id = `board-${project}`;
    return h('section', { key: project, 'aria-labelledby': id, 'data-test': 'board', 'data-project': project },
      h('h2', { class: 'section-title', id, title: project }, name),
      h('div', { class: 'board' }, SHELVES.map((shelf) => this.shelf(project, shelf, shelves[shelf] ?? []))));
  }

  shelf(project, shelf, features) {
    const id = `shelf-${shelf}-${project}`;
    const props = { class: 'shelf', key: shelf, 'data-test': 'shelf', 'data-shelf': shelf };
    const on = TARGETS.includes(shelf) ? this.takesDrops(project, shelf) : {};
    const cards = features.map((feature) => this.card(project, shelf, feature));
    return h('div', { ...props, role: 'group', 'aria-labelledby': id, on },
      h('h3', { id }, word('shelf', shelf), h('span', { class: 'shelf-count' }, count(features.length))),
      cards.length ? h('ul', {}, cards) : h('p', { class: 'empty' }, t('empty_shelf')));
  }

  card(project, shelf, { name, workflow, checked, total, created, archivedAt }) {
    const isMovable = TARGETS.includes(shelf);
    const at = archivedAt ?? created;
    const props = { class: 'feature-card', key: name, 'data-test': 'feature-card', 'data-feature': name };
    return h('li', { ...props, ...(isMovable && this.canBeDragged({ project, name, shelf })) },
      h('div', { class: 'feature-head' },
        h('h4', { title: name }, name), isMovable && this.moves(project, shelf, name)),
      h('p', { class: 'muted' }, [workflow, at && day(at)].filter(Boolean).join(' · ')),
      total > 0 && taskMeter({ checked, total }));
  }

  // By menu.

  moves(project, shelf, name) {
    const items = TARGETS.filter((to) => to !== shelf).map((to) => ({
      label: t('move_to', { shelf: word('shelf', to) }), 'data-test': 'move-to', 'data-to': to,
      act: () => this.move(project, name, to),
    }));
    return menu(t('move_feature', { feature: name }), 'move-menu', items);
  }

  // By drag and drop.

  canBeDragged(feature) {
    const start = (event) => {
      this.dragged = feature;
      event.dataTransfer.effectAllowed = 'move';
      event.dataTransfer.setData('text/plain', feature.name);
      event.currentTarget.classList.add('dragged');
    };
    const end = (event) => {
      this.dragged = null;
      event.currentTarget.classList.remove('dragged');
    };
    return { draggable: 'true', on: { dragstart: start, dragend: end } };
  }

  takesDrops(project, shelf) {
    const fits = () => this.dragged?.project === project && this.dragged.shelf !== shelf;
    const mark = (event, isOver) => event.currentTarget.classList.toggle('drop-target', isOver);
    const dragover = (event) => {
      if (!fits()) return;
      event.preventDefault();
      mark(event, true);
    };
    const dragleave = (event) => event.currentTarget.contains(event.relatedTarget) || mark(event, false);
    const drop = (event) => {
      event.preventDefault();
      mark(event, false);
      if (fits()) this.move(project, this.dragged.name, shelf);
    };
    return { dragover, dragleave, drop };
  }
}
