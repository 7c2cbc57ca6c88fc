// Statistics: the pass rates, failures, durations, tokens and costs.

import { get } from '../api.js';
import { h } from '../dom.js';
import { bars, columns, figure, shares, table } from '../parts/charts.js';
import { problem, segments } from '../parts/components.js';
import { projectChoice, workflowChoice } from '../parts/session.js';
import { DAY } from '../parts/spans.js';
import { stageOf } from '../store.js';
import { compact, cost, count, day, duration, percent, t } from '../text.js';
import { View } from '../view.js';

const PERIODS = ['7', '30', '90', ''];
const CONTINUE_AFTER = 500;

let filter = { days: '30', workflow: '', project: '' };

export function open(host) {
  return new History(host);
}

class History extends View {
  stats = null;

  constructor(host) {
    super(host);
    this.draw();
    this.load();
  }

  fetch() {
    return get('/api/stats', filter);
  }

  take(stats) {
    this.stats = stats;
    // The server reads the conversations of agents in steps; each request continues.
    if (stats.unreadConversations > 0) setTimeout(() => this.isClosed || this.load(), CONTINUE_AFTER);
  }

  set(name) {
    return (value) => {
      filter = { ...filter, [name]: value };
      this.draw();
      this.load();
    };
  }

  content() {
    return [
      h('div', { class: 'view-head', key: 'head' }, h('h1', { tabindex: '-1' }, t('nav_history')), this.periods()),
      h('div', { class: 'filters', role: 'search', key: 'filters' },
        workflowChoice(filter.workflow, this.set('workflow')),
        projectChoice(filter.project, this.set('project'))),
      this.error && problem(this.error),
      this.stats ? report(this.stats) : h('p', { class: 'empty' }, t('loading')),
    ];
  }

  periods() {
    const words = (days) => (days ? t('last_days', { n: days }) : t('all_time'));
    const options = PERIODS.map((days) => [days, words(days), `period-${days || 'all'}`]);
    return segments(t('period'), filter.days, options, this.set('days'));
  }
}

function report(stats) {
  if (stats.started === 0) {
    return h('div', { class: 'welcome', key: 'none', 'data-test': 'no-stats' }, h('p', {}, t('no_stats')));
  }
  return h('div', { class: 'report', key: 'report' },
    stats.unreadConversations > 0 && h('p', { class: 'empty', role: 'status' }, t('still_reading')),
    tiles(stats),
    h('div', { class: 'charts' }, charts(stats)),
    byStage(stats.stages),
    byAgent(stats.agents));
}

// Numbers.

function tiles({ passAt1, passAt3, started, completed, aborted, failures, days }) {
  const spent = days.reduce((total, one) => total + (one.costUsd ?? 0), 0);
  const ended = t('completed_and_aborted', { completed: count(completed), aborted: count(aborted) });
  return h('dl', { class: 'tiles', key: 'tiles' },
    tile('pass_at_1', percent(passAt1), t('pass_at_1_means')),
    tile('pass_at_3', percent(passAt3), t('pass_at_3_means')),
    tile('started', count(started), ended),
    tile('failures', count(failures)),
    tile('cost', cost(spent)));
}

function tile(name, value, note) {
  return h('div', { class: 'tile', 'data-test': `tile-${name}` },
    h('dt', {}, t(`tile_${name}`)), h('dd', {}, value), note && h('dd', { class: 'note' }, note));
}

// Charts.

function charts({ days, stages, workflows }) {
  const all = everyDay(days);
  return [
    endedByDay(all),
    passByDay(all),
    costByDay(all),
    tokensByDay(all),
    failuresByStage(stages),
    byWorkflow('durations', t('chart_durations'), t('median'), workflows, 'medianMs', duration),
    byWorkflow('costs', t('chart_costs'), t('cost'), workflows, 'costUsd', cost),
  ];
}

const NOTHING = { started: 0, completed: 0, aborted: 0, passAt1: null, tokens: 0, costUsd: 0 };

/** Includes days without events, so that the time axis is linear. */
function everyDay(days) {
  const known = new Map(days.map((one) => [one.day, one]));
  const names = [...known.keys()].sort();
  const all = [];
  // In UTC, where every day has 24 hours.
  for (let at = Date.parse(names[0]); at <= Date.parse(names.at(-1)); at += DAY) {
    const name = new Date(at).toISOString().slice(0, 10);
    all.push(known.get(name) ?? { ...NOTHING, day: name });
  }
  return all;
}

// A date without a time would be parsed as UTC.
const dayName = (one) => day(`${one.day}T00:00:00`);

function endedByDay(days) {
  const title = t('chart_days');
  const series = [
    { name: t('completed'), values: days.map((one) => one.completed) },
    { name: t('aborted'), values: days.map((one) => one.aborted), hatched: true },
  ];
  const whole = (value) => (Number.isInteger(value) ? count(value) : '');
  const rows = days.map((one) => [dayName(one), count(one.started), count(one.completed), count(one.aborted)]);
  return figure('days', title, [columns(title, days.map(dayName), series, whole), legend()],
    [t('day'), t('started'), t('completed'), t('aborted')], rows);
}

function legend() {
  return h('p', { class: 'legend', 'aria-hidden': 'true' },
    h('span', { class: 'swatch' }), t('completed'), h('span', { class: 'swatch hatched' }), t('aborted'));
}

function passByDay(days) {
  const title = t('chart_pass');
  const drawing = shares(title, days.map(dayName), days.map((one) => one.passAt1), percent);
  const rows = days.map((one) => [dayName(one), percent(one.passAt1)]);
  return figure('pass', title, drawing, [t('day'), t('tile_pass_at_1')], rows);
}

function costByDay(days) {
  const title = t('chart_cost_days');
  const series = [{ name: t('cost'), values: days.map((one) => one.costUsd ?? 0) }];
  const drawing = columns(title, days.map(dayName), series, cost);
  const rows = days.map((one) => [dayName(one), cost(one.costUsd)]);
  return figure('cost-days', title, drawing, [t('day'), t('cost')], rows);
}

function tokensByDay(days) {
  const title = t('chart_token_days');
  const series = [{ name: t('tokens'), values: days.map((one) => one.tokens ?? 0) }];
  const drawing = columns(title, days.map(dayName), series, compact);
  const rows = days.map((one) => [dayName(one), count(one.tokens ?? 0)]);
  return figure('token-days', title, drawing, [t('day'), t('tokens')], rows);
}

function failuresByStage(stages) {
  const failed = stages.filter((one) => one.failures > 0).sort((a, b) => b.failures - a.failures);
  const list = failed.map(({ stage, failures, runs }) => ({
    label: stageName(stage), value: failures, color: stageOf(stage).color,
    text: t('of_runs', { n: count(failures), runs: count(runs) }),
  }));
  return barFigure('failures', t('chart_failures'), [t('stage'), t('failures')], list);
}

function byWorkflow(name, title, column, workflows, field, format) {
  const known = workflows.filter((one) => one[field]);
  const list = known.map((one) => ({ label: one.workflow, value: one[field], text: format(one[field]) }));
  return barFigure(name, title, [t('workflow'), column], list);
}

function barFigure(name, title, head, list) {
  const drawing = list.length ? bars(title, list) : h('p', { class: 'empty' }, t('nothing_counted'));
  return figure(name, title, drawing, head, list.map((bar) => [bar.label, bar.text]));
}

// Tables.

function stageName(stage) {
  return `${stageOf(stage).emoji} ${stage}`;
}

function byStage(stages) {
  const head = [
    'stage', 'runs', 'tile_pass_at_1', 'tile_pass_at_3', 'failures', 'times_repaired', 'median', 'p90', 'tokens', 'cost',
  ];
  const rows = stages.map((one) => [
    stageName(one.stage), count(one.runs), percent(one.passAt1), percent(one.passAt3), count(one.failures),
    count(one.repairs), duration(one.medianMs), duration(one.p90Ms), compact(one.tokens), cost(one.costUsd),
  ]);
  return tablePanel('stage-table', t('by_stage'), head, rows);
}

function byAgent(agents) {
  const head = ['agent', 'runs', 'errors', 'median', 'tokens', 'cost'];
  const rows = agents.map((one) => [
    one.agent, count(one.runs), count(one.errors), duration(one.medianMs), compact(one.tokens), cost(one.costUsd),
  ]);
  return tablePanel('agent-table', t('by_agent'), head, rows);
}

function tablePanel(name, title, head, rows) {
  const words = head.map((column) => t(column));
  return h('section', { class: 'panel', key: name }, h('h2', {}, title), table(title, words, rows, name));
}
