// One session: its pipeline, who worked when, everything that happened, and the means to steer it.

import { get, path } from '../api.js';
import { fill, h } from '../dom.js';
import { drawSoon, everySecond, settle } from '../frame.js';
import { button, needsYouBadge, panel, problem, stateBadge, when } from '../parts/bits.js';
import { Gantt } from '../parts/gantt.js';
import { icon } from '../parts/icon.js';
import { EventList } from '../parts/list.js';
import { pipeline } from '../parts/pipeline.js';
import { activeAgents, facts, subtitle, summaryOf, titleOf } from '../parts/session.js';
import { deleteSession, pauseSession, resumeSession, stopSession } from '../steer.js';
import { on, sessions } from '../store.js';
import { t } from '../text.js';
import { eventDetails, eventFilter } from './session-events.js';
import { sidePanels } from './session-panels.js';

export function open(host, { id }) {
  return new SessionView(host, id);
}

class SessionView {
  detail = null;
  error = null;
  chosen = null;
  filter = { kind: '', q: '' };

  constructor(host, id) {
    this.host = host;
    this.id = id;
    this.summary = sessions.get(id) ?? null;
    // The stream may tell of a session many times a second; the details are fetched less often.
    this.reload = settle(() => this.load(), 400, 2000);
    this.search = settle(() => this.list?.setFilter(this.query()), 250);
    this.stops = this.listen();
    this.draw();
    this.load();
  }

  listen() {
    const mine = (act) => (data) => (data?.id ?? data) === this.id && act(data);
    return [
      on('session', mine((summary) => this.met(summary))),
      on('removed', mine(() => (location.hash = '#/'))),
      on('timeline', (event) => event.session === this.id && this.list?.add(event)),
      on('refresh', () => {
        this.load();
        this.list?.catchUp();
      }),
      everySecond((now) => this.gantt?.tick(now)),
    ];
  }

  close() {
    for (const stop of this.stops) stop();
    this.reload.cancel();
    this.search.cancel();
    this.gantt?.close();
    this.list?.close();
    this.isClosed = true;
  }

  title() {
    return this.summary ? titleOf(this.summary) : this.id;
  }

  async load() {
    try {
      this.detail = await get(path('sessions', this.id));
      this.summary = summaryOf(this.detail);
      this.error = null;
    } catch (error) {
      this.error = error;
    }
    this.drawLater();
  }

  met(summary) {
    this.summary = summary;
    this.drawLater();
    this.reload();
  }

  // Drawing.

  drawLater = () => drawSoon(this.draw);

  draw = () => {
    if (this.isClosed) return;
    fill(this.host, this.head(), this.error && problem(this.error), this.summary && this.body());
    this.mountIslands();
    this.gantt?.update(this.times());
  };

  head() {
    const back = h('a', { class: 'back', href: '#/', 'data-test': 'back' }, icon('back'), t('nav_overview'));
    const session = this.summary;
    if (!session) return h('div', { class: 'session-head', key: 'head' }, back, h('h1', { tabindex: '-1' }, this.id));
    return h('div', { class: 'session-head', key: 'head', 'data-state': session.state }, back,
      h('div', { class: 'session-title' },
        h('div', {}, h('h1', { tabindex: '-1', title: session.project }, titleOf(session)), subtitle(session)),
        h('div', { class: 'badges' }, session.needsPerson && needsYouBadge(), stateBadge(session.state), when(session.lastActivity))),
      this.actions(session),
      session.stages.length > 0 && pipeline(session.stages, 'large'),
      this.next(session), activeAgents(session), facts(session),
      h('p', { class: 'session-id' }, h('code', {}, session.id)));
  }

  actions({ id, state, needsPerson, tasks }) {
    const name = this.title();
    const isOpen = state === 'running' || state === 'stopped';
    return h('div', { class: 'actions', role: 'group', 'aria-label': t('steering') },
      state === 'running' && button('stop-button', t('stop'), () => stopSession(id, name), { symbol: 'stopped', key: 'stop' }),
      (state === 'stopped' || state === 'aborted' || needsPerson) && button('resume-button', t('resume'), () => resumeSession(id, name), { symbol: 'running', kind: 'primary', key: 'resume' }),
      isOpen && tasks && button('pause-button', t('pause'), () => pauseSession(id, name), { symbol: 'clock', key: 'pause', title: t('pause_title') }),
      button('delete-button', t('delete'), () => deleteSession(id, name), { symbol: 'trash', kind: 'quiet danger-text', key: 'delete' }));
  }

  next({ needsPerson }) {
    if (!this.detail?.next) return null;
    return h('p', { class: needsPerson ? 'next urgent' : 'next', 'data-test': 'next' }, h('strong', {}, t('next')), ' ', this.detail.next);
  }

  body() {
    return h('div', { class: 'session-body', key: 'body' },
      h('div', { class: 'session-main' },
        panel('gantt', t('gantt'), {}, h('div', { class: 'gantt', key: 'gantt', island: true, 'data-test': 'gantt' })),
        panel('events', t('events'), { aside: eventFilter(this.filter, (change) => this.refine(change)) },
          h('div', { class: 'events', key: 'events', island: true }),
          this.chosen && eventDetails(this.chosen, () => this.choose(null)))),
      h('div', { class: 'session-side' }, this.detail && sidePanels(this.detail, this.summary)));
  }

  /** The chart and the list look after themselves; they are put into their places once. */
  mountIslands() {
    const [chart, events] = ['.gantt', '.events'].map((name) => this.host.querySelector(name));
    if (chart && !this.gantt) this.gantt = new Gantt(chart);
    if (events && !this.list) this.list = new EventList(events, this.id, (event) => this.choose(event));
  }

  times() {
    const { spans = [], compactionsAt = [] } = this.detail ?? {};
    const { stages, state } = this.summary;
    return { stages, spans, compactionsAt, isOpen: state === 'running' || state === 'stopped' };
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
