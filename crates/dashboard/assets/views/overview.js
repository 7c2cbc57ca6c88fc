// The overview: what is running, what needs a person, what ended.

import { get } from '../api.js';
import { fill, h } from '../dom.js';
import { drawSoon, settle } from '../frame.js';
import { button, choice, needsYouBadge, problem, searchField, stateBadge, when } from '../parts/bits.js';
import { pipeline, stageDots } from '../parts/pipeline.js';
import { activeAgents, facts, subtitle, titleOf } from '../parts/session.js';
import { sessionPath } from '../router.js';
import { keep, on, sessions, workflowNames } from '../store.js';
import { cost, count, duration, t, word } from '../text.js';

const STATES = ['open', 'running', 'stopped', 'completed', 'aborted', 'none', 'broken'];
const OPEN = new Set(['running', 'stopped']);
const NO_FILTER = { state: '', workflow: '', project: '', q: '' };

// Kept from visit to visit: who comes back from a session finds the list as it was.
let filter = { ...NO_FILTER };

export function open(host) {
  const view = new Overview(host);
  view.load();
  return view;
}

class Overview {
  shown = new Set();
  next = null;
  state = 'loading';
  error = null;
  skipped = [];
  round = 0;

  constructor(host) {
    this.host = host;
    this.reload = settle(() => this.load(), 250, 2000);
    this.stops = [
      on('session', (session) => this.met(session)),
      on('removed', this.drawLater),
      on('refresh', () => this.load()),
    ];
    this.draw();
  }

  close() {
    this.round += 1;
    this.reload.cancel();
    for (const stop of this.stops) stop();
  }

  // Data.

  async load() {
    const round = ++this.round;
    try {
      // What is open is shown even if a hundred others were active since.
      const [all, open] = await Promise.all([this.fetch({}), this.fetch({ state: filter.state || 'open', limit: 200 })]);
      if (round !== this.round) return;
      this.take([...open.sessions, ...all.sessions], all);
    } catch (error) {
      if (round === this.round) this.error = error;
    }
    this.drawLater();
  }

  fetch(more) {
    return get('/api/sessions', { ...filter, limit: 50, ...more });
  }

  take(list, { next, skipped }) {
    keep(list);
    this.shown = new Set(list.map((session) => session.id));
    this.next = next;
    this.skipped = skipped ?? [];
    this.error = null;
    this.state = 'ready';
  }

  async loadMore() {
    const { sessions: list, next } = await this.fetch({ cursor: this.next });
    keep(list);
    for (const session of list) this.shown.add(session.id);
    this.next = next;
    this.drawLater();
  }

  /** A session of the stream belongs here if it passes the filter. */
  met(session) {
    if (passes(session)) this.shown.add(session.id);
    else this.shown.delete(session.id);
    this.drawLater();
  }

  setFilter(name, value) {
    filter = { ...filter, [name]: value };
    this.drawLater();
    this.reload();
  }

  // Drawing.

  drawLater = () => drawSoon(this.draw);

  draw = () => {
    const list = [...this.shown].map((id) => sessions.get(id)).filter(Boolean);
    const cards = list.filter(isCard).sort(byUrgency);
    const rows = list.filter((session) => !isCard(session)).sort(byActivity);
    fill(this.host,
      h('div', { class: 'view-head', key: 'head' }, h('h1', { tabindex: '-1' }, t('nav_overview')), glance(cards)),
      this.filters(), this.error && problem(this.error), this.content(cards, rows));
  };

  filters() {
    const set = (name) => (value) => this.setFilter(name, value);
    const all = ['', t('all')];
    return h('div', { class: 'filters', role: 'search', key: 'filters' },
      searchField(t('search_sessions'), filter.q, set('q')),
      choice('state', t('state'), filter.state, [all, ...STATES.map((state) => [state, word('state', state)])], set('state')),
      choice('workflow', t('workflow'), filter.workflow, [all, ...workflowNames().map((name) => [name, name])], set('workflow')),
      choice('project', t('project'), filter.project, [all, ...projects()], set('project')));
  }

  content(cards, rows) {
    if (this.state === 'loading') return !this.error && h('p', { class: 'empty', key: 'loading' }, t('loading'));
    if (cards.length + rows.length === 0) return isFiltered() ? this.noMatch() : welcome();
    return [this.cards(cards), this.rows(rows)];
  }

  cards(list) {
    const content = list.length ? h('ul', { class: 'cards' }, list.map(card)) : h('p', { class: 'empty' }, t('nothing_running'));
    return h('section', { 'aria-labelledby': 'open-title', key: 'open' }, h('h2', { id: 'open-title', class: 'section-title' }, t('open_sessions')), content);
  }

  rows(list) {
    if (list.length === 0) return null;
    return h('section', { 'aria-labelledby': 'recent-title', key: 'recent' },
      h('h2', { id: 'recent-title', class: 'section-title' }, t('recent_sessions')),
      h('ul', { class: 'rows' }, list.map((session) => row(session, this.skipped))),
      this.next && h('p', { class: 'more' }, button('load-more', t('load_more'), () => this.loadMore())));
  }

  noMatch() {
    const reset = () => {
      filter = { ...NO_FILTER };
      this.load();
    };
    return h('div', { class: 'welcome', key: 'no-match', 'data-test': 'no-match' },
      h('p', {}, t('no_match')), button('reset-filters', t('reset_filters'), reset));
  }
}

function isFiltered() {
  return Object.values(filter).some((value) => value !== '');
}

function passes(session) {
  const { state, workflow, project, q } = filter;
  if (state && state !== session.state && !(state === 'open' && OPEN.has(session.state))) return false;
  if (workflow && workflow !== session.workflow) return false;
  if (project && project !== session.project) return false;
  const text = [session.id, session.project, session.workflow, session.tasks?.name].join('\n').toLowerCase();
  return text.includes(q.toLowerCase());
}

function projects() {
  const found = new Map([...sessions.values()].filter((session) => session.project).map((session) => [session.project, titleOf(session)]));
  return [...found].sort(([, a], [, b]) => a.localeCompare(b));
}

function isCard(session) {
  return OPEN.has(session.state) || session.needsPerson;
}

/** By rank and age, not by activity: cards must not change places while somebody reads them. */
function byUrgency(a, b) {
  const rank = (session) => (session.needsPerson ? 0 : session.state === 'running' ? 1 : 2);
  return rank(a) - rank(b) || b.createdAt.localeCompare(a.createdAt);
}

function byActivity(a, b) {
  return b.lastActivity.localeCompare(a.lastActivity);
}

function glance(cards) {
  const running = cards.filter((session) => session.state === 'running').length;
  const waiting = cards.filter((session) => session.needsPerson).length;
  const agents = cards.reduce((total, session) => total + session.activeAgents.length, 0);
  const parts = [t('glance_running', { n: count(running) }), t('glance_agents', { n: count(agents) }), waiting > 0 && t('glance_waiting', { n: count(waiting) })];
  return h('p', { class: 'glance', 'data-test': 'glance' }, parts.filter(Boolean).map((text) => h('span', {}, text)));
}

function card(session) {
  const id = `card-${session.id}`;
  const props = { class: 'card', key: session.id, 'data-test': 'session-card', 'data-id': session.id, 'data-state': session.state };
  return h('li', props, h('article', { 'aria-labelledby': id },
    h('header', { class: 'card-head' },
      h('div', { class: 'card-title' }, h('h3', { id }, h('a', { href: sessionPath(session.id), title: session.project ?? session.id }, titleOf(session))), subtitle(session)),
      h('div', { class: 'badges' }, session.needsPerson && needsYouBadge(), stateBadge(session.state), when(session.lastActivity))),
    pipeline(session.stages), activeAgents(session), facts(session)));
}

function row(session, skipped) {
  const spent = session.stages.length ? Date.parse(session.lastActivity) - Date.parse(session.createdAt) : null;
  const trouble = skipped.find((one) => one.session === session.id);
  return h('li', { class: 'row', key: session.id, 'data-test': 'session-row', 'data-id': session.id, 'data-state': session.state },
    stateBadge(session.state),
    h('div', { class: 'row-title' }, h('a', { href: sessionPath(session.id), title: session.project ?? session.id }, titleOf(session)), subtitle(session)),
    trouble ? h('span', { class: 'row-trouble', title: trouble.problem }, trouble.problem) : stageDots(session.stages),
    h('span', { class: 'row-number' }, duration(spent)),
    h('span', { class: 'row-number' }, cost(session.costUsd)),
    when(session.lastActivity));
}

/** Nothing there yet: what to do to begin. */
function welcome() {
  const line = (command, words) => [h('dt', {}, h('code', {}, command)), h('dd', {}, words)];
  return h('div', { class: 'welcome', key: 'welcome', 'data-test': 'welcome' },
    h('h2', {}, t('welcome_title')), h('p', {}, t('welcome_text')),
    h('dl', {}, line(t('welcome_wish_command'), t('welcome_wish')), line('/ot:standard …', t('welcome_standard')),
      line('overtone demo', t('welcome_demo')), line('overtone doctor', t('welcome_doctor'))));
}
