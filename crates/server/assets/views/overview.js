// The overview: sessions that are running, need the user, or have ended.

import { get } from '../api.js';
import { h } from '../dom.js';
import { button, choice, needsYouBadge, problem, searchField, stateBadge, when } from '../parts/components.js';
import { fleetPanels } from '../parts/fleet.js';
import { pipeline, stageDots } from '../parts/pipeline.js';
import { activeAgents, facts, projectChoice, subtitle, titleOf, workflowChoice } from '../parts/session.js';
import { sessionPath } from '../paths.js';
import { everySecond } from '../schedule.js';
import { addSessions, isFleet, sessions } from '../store.js';
import { cost, count, duration, t, word } from '../text.js';
import { View } from '../view.js';

const STATES = ['open', 'running', 'stopped', 'completed', 'aborted', 'none', 'broken'];
const OPEN = new Set(['running', 'stopped']);
const NO_FILTER = { state: '', workflow: '', project: '', q: '' };
// Sessions that have waited longer are listed below, so that old ones do not hide what is running.
const MAX_URGENT_AGE = 3 * 24 * 3_600_000;

// Kept between visits, so that the list is unchanged when the user returns from a session.
let filter = { ...NO_FILTER };
// The presence of machines changes without events of a session.
const FLEET_INTERVAL = 4_000;

export function open(host) {
  return new Overview(host);
}

class Overview extends View {
  shown = new Set();
  next = null;
  isLoaded = false;
  skipped = [];
  fleet = null;
  fleetAt = Date.now();

  constructor(host) {
    super(host);
    this.search = this.loadWhenQuiet(250);
    this.listen('session', (session) => this.updateSession(session));
    this.listen('removed', this.drawLater);
    if (isFleet()) this.stops.push(everySecond((now) => this.refreshFleet(now)));
    this.draw();
    this.load();
  }

  // Data.

  /** Open sessions are shown even if many others were active since. */
  fetch() {
    const fleet = isFleet() ? get('/api/fleet') : null;
    return Promise.all([this.page({ state: filter.state || 'open', limit: 200 }), this.page({}), fleet]);
  }

  page(more) {
    return get('/api/sessions', { ...filter, limit: 50, ...more });
  }

  take([unfinished, all, fleet]) {
    this.fleet = fleet;
    this.shown = new Set();
    this.add([...unfinished.sessions, ...all.sessions], all.next);
    this.skipped = all.skipped ?? [];
    this.isLoaded = true;
  }

  add(list, next) {
    addSessions(list);
    for (const session of list) this.shown.add(session.id);
    this.next = next;
  }

  async refreshFleet(now) {
    if (now - this.fleetAt < FLEET_INTERVAL) return;
    this.fleetAt = now;
    try {
      this.fleet = await get('/api/fleet');
    } catch {
      // The next refresh may succeed; a lost connection is shown elsewhere.
      return;
    }
    this.drawLater();
  }

  async loadMore() {
    try {
      const page = await this.page({ cursor: this.next });
      this.add(page.sessions, page.next);
    } catch (error) {
      this.error = error;
    }
    this.drawLater();
  }

  /** Shows or hides a session from the stream, by the filter. */
  updateSession(session) {
    if (passes(session)) this.shown.add(session.id);
    else this.shown.delete(session.id);
    this.drawLater();
  }

  setFilter(change) {
    filter = { ...filter, ...change };
    this.drawLater();
    this.search();
  }

  // Drawing.

  content() {
    const list = [...this.shown].map((id) => sessions.get(id)).filter(Boolean);
    const cards = list.filter(isCard).sort(byUrgency);
    const rows = list.filter((session) => !isCard(session)).sort(byActivity);
    return [
      h('div', { class: 'view-head', key: 'head' },
        h('h1', { tabindex: '-1' }, t(isFleet() ? 'fleet' : 'nav_overview')), totals(cards)),
      fleetPanels(this.fleet),
      (this.shown.size > 0 || isFiltered()) && this.filters(),
      this.error && problem(this.error),
      this.lists(cards, rows),
      this.skipped.length > 0 && skippedFiles(this.skipped),
    ];
  }

  filters() {
    const set = (name) => (value) => this.setFilter({ [name]: value });
    const states = [['', t('all')], ...STATES.map((state) => [state, word('state', state)])];
    return h('div', { class: 'filters', role: 'search', key: 'filters' },
      searchField(t('search_sessions'), filter.q, set('q')),
      choice('state', t('state'), filter.state, states, set('state')),
      workflowChoice(filter.workflow, set('workflow')),
      projectChoice(filter.project, set('project')));
  }

  lists(cards, rows) {
    if (!this.isLoaded) return !this.error && h('p', { class: 'empty', key: 'loading' }, t('loading'));
    if (cards.length + rows.length > 0) return [this.cards(cards), rows.length > 0 && this.rows(rows)];
    if (isFiltered()) return this.noMatch();
    if (!isFleet()) return welcome();
    return h('p', { class: 'empty', key: 'empty', 'data-test': 'no-sessions' }, t('fleet_empty'));
  }

  cards(list) {
    return section('open', t('open_sessions'),
      list.length ? h('ul', { class: 'cards' }, list.map(card)) : h('p', { class: 'empty' }, t('nothing_running')));
  }

  rows(list) {
    return section('recent', t('recent_sessions'),
      h('ul', { class: 'rows' }, list.map((session) => row(session, this.skipped))),
      this.next && h('p', { class: 'more' }, button('load-more', t('load_more'), () => this.loadMore())));
  }

  noMatch() {
    return h('div', { class: 'welcome', key: 'no-match', 'data-test': 'no-match' },
      h('p', {}, t('no_match')),
      button('reset-filters', t('reset_filters'), () => this.setFilter(NO_FILTER)));
  }
}

// Selection and order.

function isFiltered() {
  return Object.values(filter).some((value) => value !== '');
}

/** Whether a session matches the filter, by the same rules as on the server. */
function passes({ id, state, workflow, project, tasks, machine }) {
  const isAllowed = (expected, value) => expected === '' || expected === value;
  const text = [id, project, workflow, tasks?.name, machine?.name].join('\n').toLowerCase();
  return (
    (isAllowed(filter.state, state) || (filter.state === 'open' && OPEN.has(state))) &&
    isAllowed(filter.workflow, workflow) &&
    isAllowed(filter.project, project) &&
    text.includes(filter.q.toLowerCase())
  );
}

/** An unreadable session has no pipeline; its row shows the reason. */
function isCard({ state, needsPerson, lastActivity }) {
  const isUrgent = needsPerson && state !== 'broken' && Date.now() - Date.parse(lastActivity) < MAX_URGENT_AGE;
  return OPEN.has(state) || isUrgent;
}

/** Sorted by rank and age, not by activity, so that cards do not move while the user reads them. */
function byUrgency(a, b) {
  const rank = (session) => (session.needsPerson ? 0 : session.state === 'running' ? 1 : 2);
  return rank(a) - rank(b) || Date.parse(b.createdAt) - Date.parse(a.createdAt);
}

function byActivity(a, b) {
  return b.lastActivity.localeCompare(a.lastActivity);
}

// Rendering.

function section(name, title, ...content) {
  const id = `${name}-title`;
  return h('section', { 'aria-labelledby': id, key: name }, h('h2', { id, class: 'section-title' }, title), content);
}

function totals(cards) {
  const running = cards.filter((session) => session.state === 'running').length;
  const waiting = cards.filter((session) => session.needsPerson).length;
  const agents = cards.reduce((total, session) => total + session.activeAgents.length, 0);
  return h('p', { class: 'glance', 'data-test': 'glance' },
    h('span', {}, t('glance_running', { n: count(running) })),
    h('span', {}, t('glance_agents', { n: count(agents) })),
    waiting > 0 && h('span', {}, t('glance_waiting', { n: count(waiting) })));
}

function card(session) {
  const id = `card-${session.id}`;
  const { state, needsPerson, lastActivity, stages } = session;
  const props = { class: 'card', key: session.id, 'data-test': 'session-card' };
  return h('li', { ...props, 'data-id': session.id, 'data-state': state }, h('article', { 'aria-labelledby': id },
    h('header', { class: 'card-head' },
      h('div', { class: 'card-title' }, h('h3', { id }, link(session)), subtitle(session)),
      h('div', { class: 'badges' }, needsPerson && needsYouBadge(), stateBadge(session), when(lastActivity))),
    pipeline(stages),
    activeAgents(session),
    facts(session)));
}

function link(session) {
  return h('a', { href: sessionPath(session.id), title: session.project ?? session.id }, titleOf(session));
}

function row(session, skipped) {
  const { id, state, stages, createdAt, lastActivity, costUsd } = session;
  const spent = stages.length ? Date.parse(lastActivity) - Date.parse(createdAt) : null;
  const problemText = skipped.find((one) => one.session === id)?.problem;
  return h('li', { class: 'row', key: id, 'data-test': 'session-row', 'data-id': id, 'data-state': state },
    stateBadge(session),
    h('div', { class: 'row-title' }, link(session), subtitle(session)),
    problemText ? h('span', { class: 'row-trouble', title: problemText }, problemText) : stageDots(stages),
    h('span', { class: 'row-number' }, duration(spent)),
    h('span', { class: 'row-number' }, cost(costUsd)),
    when(lastActivity));
}

/** Lists the files that could not be read. */
function skippedFiles(list) {
  const line = ({ session, file, problem: what }) => h('li', {}, h('code', {}, `${session}/${file}`), ' ', what);
  return h('details', { class: 'skipped', key: 'skipped', 'data-test': 'skipped' },
    h('summary', {}, t('skipped_files', { n: count(list.length) })), h('ul', {}, list.map(line)));
}

/** Shown without sessions: how to start. */
function welcome() {
  const line = (command, words) => [h('dt', {}, h('code', {}, command)), h('dd', {}, words)];
  return h('div', { class: 'welcome', key: 'welcome', 'data-test': 'welcome' },
    h('h2', {}, t('welcome_title')),
    h('p', {}, t('welcome_text')),
    h('dl', {},
      line(t('welcome_wish_command'), t('welcome_wish')),
      line('/ot:standard …', t('welcome_standard')),
      line('overtone demo', t('welcome_demo')),
      line('overtone doctor', t('welcome_doctor'))));
}
