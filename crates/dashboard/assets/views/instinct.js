// What was learned in each project, how sure it is, and a person's opinion on it.

import { get } from '../api.js';
import { fill, h } from '../dom.js';
import { drawSoon } from '../frame.js';
import { button, meter, problem, searchField, when } from '../parts/bits.js';
import { judgeLesson } from '../steer.js';
import { on } from '../store.js';
import { count, percent, t, word } from '../text.js';

export function open(host) {
  return new Instinct(host);
}

class Instinct {
  projects = null;
  error = null;
  q = '';

  constructor(host) {
    this.host = host;
    this.stops = [on('refresh', () => this.load())];
    this.draw();
    this.load();
  }

  close() {
    for (const stop of this.stops) stop();
    this.isClosed = true;
  }

  async load() {
    try {
      this.projects = (await get('/api/instinct')).projects;
      this.error = null;
    } catch (error) {
      this.error = error;
    }
    drawSoon(this.draw);
  }

  draw = () => {
    if (this.isClosed) return;
    fill(this.host, h('div', { class: 'view-head', key: 'head' }, h('h1', { tabindex: '-1' }, t('nav_instinct'))),
      h('p', { class: 'lead', key: 'lead' }, t('instinct_lead')),
      h('div', { class: 'filters', role: 'search', key: 'filters' }, searchField(t('search_lessons'), this.q, (q) => this.search(q))),
      this.error && problem(this.error), this.content());
  };

  search(q) {
    this.q = q;
    drawSoon(this.draw);
  }

  content() {
    if (!this.projects) return !this.error && h('p', { class: 'empty' }, t('loading'));
    const found = this.projects.map((one) => ({ ...one, lessons: one.lessons.filter((lesson) => this.matches(lesson)) })).filter((one) => one.lessons.length);
    if (found.length === 0) return h('div', { class: 'welcome', key: 'none', 'data-test': 'no-lessons' }, h('p', {}, t('no_lessons')));
    return found.map((project) => this.project(project));
  }

  matches({ kind, trigger, action }) {
    return [kind, trigger, action].join('\n').toLowerCase().includes(this.q.toLowerCase());
  }

  project({ project, name, lessons }) {
    const id = `project-${project}`;
    const sorted = lessons.toSorted((a, b) => b.confidence - a.confidence);
    return h('section', { key: project, 'aria-labelledby': id },
      h('h2', { class: 'section-title', id, title: project }, name, h('span', { class: 'muted' }, ` ${t('lesson_count', { n: count(lessons.length) })}`)),
      h('ul', { class: 'lessons' }, sorted.map((lesson) => this.lesson(project, lesson))));
  }

  lesson(project, { id, kind, trigger, action, confidence, count: seen, applied, updatedAt }) {
    const judge = (opinion) => async () => (await judgeLesson(project, id, opinion)) && this.load();
    const used = [t('seen', { n: count(seen) }), applied > 0 && t('applied', { n: count(applied) })].filter(Boolean).join(' · ');
    return h('li', { class: 'lesson', key: id, 'data-test': 'lesson', 'data-id': id },
      h('div', { class: 'lesson-text' },
        h('p', { class: 'lesson-kind' }, word('lesson', kind)),
        h('p', { class: 'lesson-trigger' }, trigger), h('p', { class: 'lesson-action' }, action),
        h('p', { class: 'muted' }, used, ' · ', when(updatedAt))),
      h('div', { class: 'lesson-side' },
        meter(confidence, percent(confidence), t('confidence'), confidence < 0.3 ? 'warn' : 'plain'),
        h('div', { class: 'lesson-buttons', role: 'group', 'aria-label': t('your_opinion') },
          button('confirm-button', t('confirm'), judge('confirm'), { symbol: 'completed' }),
          button('contradict-button', t('contradict'), judge('contradict'), { symbol: 'aborted' }))));
  }
}
