// One session: its pipeline, the chart of its agents, its events, and its commands.

import { get, path } from '../api.js';
import { deleteSession, messageSession, pauseSession, resumeSession, stopSession } from '../commands.js';
import { h } from '../dom.js';
import { button, needsYouBadge, panel, problem, stateBadge, when } from '../parts/components.js';
import { EventList } from '../parts/event-list.js';
import { Gantt } from '../parts/gantt.js';
import { icon } from '../parts/icon.js';
import { pipeline } from '../parts/pipeline.js';
import { activeAgents, facts, subtitle, summaryOf, titleOf } from '../parts/session.js';
import { OVERVIEW } from '../paths.js';
import { debounce, everySecond } from '../schedule.js';
import { isFleet, sessions } from '../store.js';
import { t } from '../text.js';
import { View } from '../view.js';
import { eventDetails, eventFilter } from './session-events.js';
import { sidePanels } from './session-panels.js';

export function open(host, { id }) {
  return new SessionView(host, id);
}

class SessionView extends View {
  detail = null;
  chosen = null;
  filter = { kind: '', q: '' };

  constructor(host, id) {
    super(host);
    this.id = id;
    this.summary = sessions.get(id) ?? null;
    // The stream may report changes many times a second; the details are fetched less often.
    this.loadSoon = this.loadWhenQuiet(400, 2000);
    this.search = debounce(() => this.list?.setFilter(this.query()), 250);
    this.listenToStream();
    this.draw();
    this.load();
  }

  listenToStream() {
    this.listen('session', (summary) => summary.id === this.id && this.updateSummary(summary));
    this.listen('removed', (id) => {
      if (id === this.id) location.hash = OVERVIEW;
    });
    this.listen('timeline', (event) => event.session === this.id && this.list?.add(event));
    this.listen('refresh', () => this.list?.catchUp());
    this.stops.push(everySecond((now) => this.gantt?.tick(now)));
  }

  close() {
    super.close();
    this.search.cancel();
    this.gantt?.close();
    this.list?.close();
  }

  title() {
    return this.summary ? titleOf(this.summary) : this.id;
  }

  // Data.

  fetch() {
    return get(path('sessions', this.id));
  }

  take(detail) {
    this.detail = detail;
    this.summary = summaryOf(detail);
  }

  updateSummary(summary) {
    this.summary = summary;
    this.drawLater();
    this.loadSoon();
  }

  // Drawing.

  content() {
    return [this.head(), this.error && problem(this.error), this.summary && this.body()];
  }

  /** The chart and the list draw themselves; they are inserted once. */
  drawn() {
    const [chart, events] = ['.gantt', '.events'].map((name) => this.host.querySelector(name));
    if (chart) this.gantt ??= new Gantt(chart);
    if (events) this.list ??= new EventList(events, this.id, (event) => this.choose(event));
    this.gantt?.update(this.times());
    document.title = `${this.title()} · Overtone`;
  }

  head() {
    const session = this.summary;
    const name = h('h1', { tabindex: '-1', title: session?.project }, this.title());
    const back = h('a', { class: 'back', href: OVERVIEW, 'data-test': 'back' }, icon('back'), t('nav_overview'));
    const top = h('div', { class: 'session-path' }, back, h('code', {}, this.id));
    if (!session) {
      return h('div', { class: 'session-head', key: 'head' },
        top, h('div', { class: 'session-title' }, name), this.lastResort());
    }
    return h('div', { class: 'session-head', key: 'head', 'data-state': session.state },
      top,
      h('div', { class: 'session-title' }, h('div', {}, name, subtitle(session)), badges(session)),
      this.actions(session),
      session.stages.length > 0 && pipeline(session.stages, 'large', this.detail?.evidence?.stages),
      this.next(session),
      activeAgents(session),
      facts(session));
  }

  actions({ state, tasks }) {
    const isOpen = state === 'running' || state === 'stopped';
    return h('div', { class: 'actions', role: 'group', 'aria-label': t('steering') },
      state === 'running' && this.action('stop', stopSession, 'stopped'),
      (state === 'stopped' || state === 'aborted') && this.action('resume', resumeSession, 'running', 'primary'),
      isOpen && tasks && this.action('pause', pauseSession, 'clock'),
      isOpen && this.action('message', messageSession, 'message'),
      // Other machines accept only commands that can be undone.
      !isFleet() && this.action('delete', deleteSession, 'trash', 'quiet danger-text'));
  }

  action(verb, act, symbol, kind) {
    return button(`${verb}-button`, t(verb), () => act(this.id, this.title()), { key: verb, symbol, kind });
  }

  /** An unreadable session can still be deleted. */
  lastResort() {
    const isThere = this.error && this.error.status !== 0 && this.error.status !== 404;
    return isThere && this.actions({ state: 'broken', tasks: null });
  }

  next({ needsPerson }) {
    if (!this.detail?.next) return null;
    return h('p', { class: needsPerson ? 'next urgent' : 'next', 'data-test': 'next' }, this.detail.next);
  }

  body() {
    const filter = eventFilter(this.filter, (change) => this.refine(change));
    return h('div', { class: 'session-body', key: 'body' },
      h('div', { class: 'session-main' },
        panel('gantt', t('gantt'), null,
          h('div', { class: 'gantt', key: 'gantt', island: true, 'data-test': 'gantt' })),
        panel('events', t('events'), filter,
          h('div', { class: 'events', key: 'events', island: true }),
          this.chosen && eventDetails(this.chosen, () => this.choose(null)))),
      h('div', { class: 'session-side' }, this.detail && sidePanels(this.detail, this.summary)));
  }

  times() {
    const { spans = [], compactionsAt = [] } = this.detail ?? {};
    const { stages, state, activeAgents: agents } = this.summary;
    const activeStages = stages.filter((stage) => stage.status === 'active').map((stage) => stage.key);
    const active = new Set([...activeStages, ...agents.map(({ agent }) => agent)]);
    return { stages, spans, compactionsAt, active, isOpen: state === 'running' || state === 'stopped' };
  }

  // The event list.

  choose(event) {
    this.chosen = event;
    this.draw();
  }

  refine(change) {
    this.filter = { ...this.filter, ...change };
    this.search();
  }

  query() {
    const { kind, q } = this.filter;
    if (kind === '') return { q };
    return kind.includes(':') ? { type: kind, q } : { category: kind, q };
  }
}

function badges(session) {
  const { needsPerson, lastActivity } = session;
  return h('div', { class: 'badges' }, needsPerson && needsYouBadge(), stateBadge(session), when(lastActivity));
}
