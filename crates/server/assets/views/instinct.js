// The lessons learned in each project with their confidence, which the user can confirm or contradict.

import { get } from '../api.js';
import { judgeLesson } from '../commands.js';
import { h } from '../dom.js';
import { button, meter, problem, searchField, when } from '../parts/components.js';
import { count, percent, t, word } from '../text.js';
import { View } from '../view.js';

export function open(host) {
  return new Instinct(host);
}

class Instinct extends View {
  projects = null;
  q = '';

  constructor(host) {
    super(host);
    this.draw();
    this.load();
  }

  fetch() {
    return get('/api/instinct');
  }

  take({ projects }) {
    this.projects = projects;
  }

  search(q) {
    this.q = q;
    this.drawLater();
  }

  content() {
    return [
      h('div', { class: 'view-head', key: 'head' }, h('h1', { tabindex: '-1' }, t('nav_instinct'))),
      h('p', { class: 'lead', key: 'lead' }, t('instinct_lead')),
      h('div', { class: 'filters', role: 'search', key: 'filters' },
        searchField(t('search_lessons'), this.q, (q) => this.search(q))),
      this.error && problem(this.error),
      this.lessons(),
    ];
  }

  lessons() {
    if (!this.projects) return !this.error && h('p', { class: 'empty' }, t('loading'));
    const found = this.projects
      .map((project) => ({ ...project, lessons: project.lessons.filter((lesson) => this.matches(lesson)) }))
      .filter(({ lessons }) => lessons.length > 0);
    if (found.length > 0) return found.map((project) => this.project(project));
    return h('div', { class: 'welcome', key: 'none', 'data-test': 'no-lessons' }, h('p', {}, t('no_lessons')));
  }

  matches({ kind, trigger, action }) {
    return [kind, trigger, action].join('\n').toLowerCase().includes(this.q.toLowerCase());
  }

  project({ project, name, lessons }) {
    const id = `project-${project}`;
    const sorted = lessons.toSorted((a, b) => b.confidence - a.confidence);
    const number = t('lesson_count', { n: count(lessons.length) });
    return h('section', { key: project, 'aria-labelledby': id },
      h('h2', { class: 'section-title', id, title: project }, name, ' ', h('span', { class: 'muted' }, number)),
      h('ul', { class: 'lessons' }, sorted.map((lesson) => this.lesson(project, lesson))));
  }

  lesson(project, lesson) {
    const { id, confidence } = lesson;
    const judge = (opinion) => async () => (await judgeLesson(project, id, opinion)) && this.load();
    return h('li', { class: 'lesson', key: id, 'data-test': 'lesson', 'data-id': id },
      words(lesson),
      h('div', { class: 'lesson-side' },
        meter(confidence, percent(confidence), t('confidence'), confidence < 0.3 ? 'warn' : 'plain'),
        h('div', { class: 'lesson-buttons', role: 'group', 'aria-label': t('your_opinion') },
          button('confirm-button', t('confirm'), judge('confirm'), { symbol: 'completed' }),
          button('contradict-button', t('contradict'), judge('contradict'), { symbol: 'aborted' }))));
  }
}

function words({ kind, trigger, action, count: seen, applied, updatedAt }) {
  const used = [t('seen', { n: count(seen) }), applied && t('in_use')];
  return h('div', { class: 'lesson-text' },
    h('p', { class: 'lesson-kind' }, word('lesson', kind)),
    h('p', { class: 'lesson-trigger' }, trigger),
    h('p', { class: 'lesson-action' }, action),
    h('p', { class: 'muted' }, used.filter(Boolean).join(' · '), ' · ', when(updatedAt)));
}
