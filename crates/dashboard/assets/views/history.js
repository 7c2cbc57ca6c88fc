// Trends: how often it works at the first attempt, where it fails, what it takes.

import { get } from '../api.js';
import { fill, h } from '../dom.js';
import { drawSoon, settle } from '../frame.js';
import { choice, problem } from '../parts/bits.js';
import { bars, columns, figure, shares, table } from '../parts/charts.js';
import { on, sessions, stageOf, workflowNames } from '../store.js';
import { compact, cost, count, day, duration, percent, t } from '../text.js';

const PERIODS = ['7', '30', '90', ''];

let filter = { days: '30', workflow: '', project: '' };

export function open(host) {
  return new History(host);
}

class History {
  stats = null;
  error = null;
  round = 0;

  constructor(host) {
    this.host = host;
    this.reload = settle(() => this.load(), 500);
    this.stops = [on('refresh', this.reload)];
    this.draw();
    this.load();
  }

  close() {
    this.round += 1;
    this.reload.cancel();
    for (const stop of this.stops) stop();
  }

  async load() {
    const round = ++this.round;
    try {
      const stats = await get('/api/stats', filter);
      if (round !== this.round) return;
      [this.stats, this.error] = [stats, null];
    } catch (error) {
      this.error = error;
    }
    drawSoon(this.draw);
  }

  set(name) {
    return (value) => {
      filter = { ...filter, [name]: value };
      this.draw();
      this.load();
    };
  }

  draw = () => {
    fill(this.host,
      h('div', { class: 'view-head', key: 'head' }, h('h1', { tabindex: '-1' }, t('nav_history')), this.periods()),
      this.filters(), this.error && problem(this.error), this.stats ? report(this.stats) : h('p', { class: 'empty' }, t('loading')));
  };

  periods() {
    const names = PERIODS.map((days) => h('button', {
      type: 'button', class: 'segment', 'aria-pressed': String(filter.days === days), 'data-test': `period-${days || 'all'}`,
      on: { click: () => this.set('days')(days) },
    }, days ? t('last_days', { n: days }) : t('all_time')));
    return h('div', { class: 'segments', role: 'group', 'aria-label': t('period') }, names);
  }

  filters() {
    const all = ['', t('all')];
    const found = new Map([...sessions.values()].filter((one) => one.project).map((one) => [one.project, one.projectName ?? one.project]));
    return h('div', { class: 'filters', role: 'search', key: 'filters' },
      choice('workflow', t('workflow'), filter.workflow, [all, ...workflowNames().map((name) => [name, name])], this.set('workflow')),
      choice('project', t('project'), filter.project, [all, ...found], this.set('project')));
  }
}

function report(stats) {
  if (stats.started === 0) return h('div', { class: 'welcome', key: 'none', 'data-test': 'no-stats' }, h('p', {}, t('no_stats')));
  return h('div', { class: 'report', key: 'report' }, tiles(stats), h('div', { class: 'charts' }, charts(stats)), stageTable(stats), agentTable(stats));
}

// Numbers.

function tiles(stats) {
  const spent = stats.days.reduce((total, one) => total + (one.costUsd ?? 0), 0);
  const tile = (name, value, note) => h('div', { class: 'tile', 'data-test': `tile-${name}` }, h('dt', {}, t(`tile_${name}`)), h('dd', {}, value), note && h('p', { class: 'muted' }, note));
  return h('dl', { class: 'tiles', key: 'tiles' },
    tile('pass_at_1', percent(stats.passAt1), t('pass_at_1_means')), tile('pass_at_3', percent(stats.passAt3), t('pass_at_3_means')),
    tile('started', count(stats.started), t('completed_and_aborted', { completed: count(stats.completed), aborted: count(stats.aborted) })),
    tile('failures', count(stats.failures)), tile('cost', cost(spent)));
}

// Charts.

function charts(stats) {
  return [byDay(stats.days), passByDay(stats.days), failures(stats.stages), durations(stats.workflows), costs(stats.workflows), costByDay(stats.days)];
}

const names = (days) => days.map((one) => day(`${one.day}T00:00:00`));

function byDay(days) {
  const title = t('chart_days');
  const open = days.map((one) => Math.max(0, one.started - one.completed - one.aborted));
  const series = [
    { name: t('completed'), values: days.map((one) => one.completed) },
    { name: t('aborted'), values: days.map((one) => one.aborted), hatched: true },
  ];
  return figure('days', title, [columns(title, names(days), series, round), legend()], [t('day'), t('completed'), t('aborted'), t('still_open')],
    days.map((one, index) => [day(`${one.day}T00:00:00`), count(one.completed), count(one.aborted), count(open[index])]));
}

const round = (value) => (Number.isInteger(value) ? count(value) : '');

function legend() {
  return h('p', { class: 'legend', 'aria-hidden': 'true' },
    h('span', { class: 'swatch' }), t('completed'), h('span', { class: 'swatch hatched' }), t('aborted'));
}

function passByDay(days) {
  const title = t('chart_pass');
  return figure('pass', title, shares(title, names(days), days.map((one) => one.passAt1), percent), [t('day'), t('tile_pass_at_1')],
    days.map((one) => [day(`${one.day}T00:00:00`), percent(one.passAt1)]));
}

function failures(stages) {
  const title = t('chart_failures');
  const list = stages.filter((one) => one.failures > 0).sort((a, b) => b.failures - a.failures).map((one) => ({
    label: `${stageOf(one.stage).emoji} ${one.stage}`, value: one.failures, color: stageOf(one.stage).color,
    text: t('of_runs', { n: count(one.failures), runs: count(one.runs) }),
  }));
  return figure('failures', title, list.length ? bars(title, list) : h('p', { class: 'empty' }, t('no_failures')), [t('stage'), t('failures')],
    list.map((bar) => [bar.label, bar.text]));
}

function durations(workflows) {
  const title = t('chart_durations');
  const list = workflows.filter((one) => one.medianMs).map((one) => ({ label: one.workflow, value: one.medianMs, text: duration(one.medianMs) }));
  return figure('durations', title, bars(title, list), [t('workflow'), t('median')], list.map((bar) => [bar.label, bar.text]));
}

function costs(workflows) {
  const title = t('chart_costs');
  const list = workflows.filter((one) => one.costUsd).map((one) => ({ label: one.workflow, value: one.costUsd, text: cost(one.costUsd) }));
  return figure('costs', title, bars(title, list), [t('workflow'), t('cost')], list.map((bar) => [bar.label, bar.text]));
}

function costByDay(days) {
  const title = t('chart_cost_days');
  const series = [{ name: t('cost'), values: days.map((one) => one.costUsd ?? 0) }];
  return figure('cost-days', title, columns(title, names(days), series, cost), [t('day'), t('cost')],
    days.map((one) => [day(`${one.day}T00:00:00`), cost(one.costUsd)]));
}

// Tables.

function stageTable({ stages }) {
  const head = [t('stage'), t('runs'), t('tile_pass_at_1'), t('tile_pass_at_3'), t('failures'), t('median'), t('p90'), t('tokens'), t('cost')];
  const rows = stages.map((one) => [`${stageOf(one.stage).emoji} ${one.stage}`, count(one.runs), percent(one.passAt1), percent(one.passAt3),
    count(one.failures), duration(one.medianMs), duration(one.p90Ms), compact(one.tokens), cost(one.costUsd)]);
  return h('section', { class: 'panel', key: 'stages' }, h('h2', {}, t('by_stage')), table(t('by_stage'), head, rows, 'stage-table'));
}

function agentTable({ agents }) {
  const head = [t('agent'), t('runs'), t('errors'), t('median'), t('tokens'), t('cost')];
  const rows = agents.map((one) => [one.agent, count(one.runs), count(one.errors), duration(one.medianMs), compact(one.tokens), cost(one.costUsd)]);
  return h('section', { class: 'panel', key: 'agents' }, h('h2', {}, t('by_agent')), table(t('by_agent'), head, rows, 'agent-table'));
}
