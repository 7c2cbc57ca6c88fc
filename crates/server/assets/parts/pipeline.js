// The stages of a workflow, drawn as a pipeline; stages that run in parallel are lanes that fork and join.
//
// For screen readers it is a list of stages, each with its status as text.

import { h, svg } from '../dom.js';
import { stageOf } from '../store.js';
import { count, duration, t, word } from '../text.js';
import { checkChip, describeChecks } from './checks.js';
import { icon } from './icon.js';

const OPEN_VERDICTS = new Set(['fail', 'reject', 'blocked']);
const MARKS = { done: 'completed', failed: 'aborted', active: 'running' };
// From this many columns on, a card uses the compact layout.
const DENSE_FROM = 9;

/** The appearance of a stage: one that ended with a bad verdict is not shown as done. */
function statusOf(stage) {
  if (stage.status !== 'completed') return stage.status;
  return OPEN_VERDICTS.has(stage.result) ? 'failed' : 'done';
}

/** Every stage is done, and the last turn has not ended yet. */
export const areDone = (stages) => stages.length > 0 && stages.every((stage) => statusOf(stage) === 'done');

/** `evidence`: what was found out about the stages, if it is known. */
export function pipeline(stages, size = 'normal', evidence = []) {
  const checks = new Map(evidence.map((found) => [found.stage, found.checks]));
  const steps = columns(stages.map((stage) => ({ ...stage, checks: checks.get(stage.key) ?? [] }))).map(step);
  const className = `pipeline pipeline-${size}${steps.length >= DENSE_FROM ? ' pipeline-dense' : ''}`;
  return h('div', { class: 'pipeline-frame', key: 'pipeline' },
    h('ol', { class: className, 'aria-label': t('pipeline'), 'data-test': 'pipeline' }, steps));
}

/** Neighbouring stages of one group share a column. */
function columns(stages) {
  const found = [];
  for (const stage of stages) {
    const last = found.at(-1);
    if (stage.group && last?.group === stage.group) last.stages.push(stage);
    else found.push({ group: stage.group ?? null, stages: [stage] });
  }
  return found;
}

function step({ group, stages }) {
  if (stages.length === 1) return h('li', { class: 'step', key: stages[0].key }, node(stages[0]));
  const lanes = stages.map((stage) => h('li', { key: stage.key }, node(stage)));
  const props = { class: 'step fork', key: `group-${group}`, 'data-test': 'pipeline-group', 'data-group': group };
  return h('li', props,
    arms('fork-in', stages.length),
    h('ol', { class: 'lanes', 'aria-label': t('parallel_group', { group }) }, lanes),
    arms('fork-out', stages.length));
}

/** The lines from one point to every lane; mirrored by the style sheet on the way out. */
function arms(side, lanes) {
  const paths = Array.from({ length: lanes }, (_, lane) => {
    const y = ((lane + 0.5) / lanes) * 100;
    return svg('path', { d: `M0 50C12 50 8 ${y} 20 ${y}` });
  });
  const props = { class: `arms ${side}`, viewBox: '0 0 20 100', preserveAspectRatio: 'none' };
  return svg('svg', { ...props, 'aria-hidden': 'true' }, paths);
}

function node(stage) {
  const { emoji, label, color } = stageOf(stage.key);
  const status = statusOf(stage);
  const props = {
    class: 'stage', title: describe(stage, label), 'data-test': 'pipeline-stage', 'data-key': stage.key,
    'data-status': status, 'data-result': stage.result, 'data-attempts': stage.attempts, 'data-color': color,
  };
  return h('div', props,
    h('span', { class: 'stage-emoji', 'aria-hidden': 'true' }, emoji),
    h('span', { class: 'stage-name', 'aria-hidden': 'true' }, stage.key),
    h('span', { class: 'stage-label', 'aria-hidden': 'true' }, label),
    checkChip(stage.checks),
    mark(status, stage.attempts),
    h('span', { class: 'visually-hidden' }, describe(stage, label)));
}

/** The badge in the corner: the status and the number of attempts. */
function mark(status, attempts) {
  const symbol = MARKS[status] ?? (attempts > 0 && 'retry');
  const number = attempts > 1 && `×${count(attempts)}`;
  return symbol && h('span', { class: 'stage-mark', 'aria-hidden': 'true' }, icon(symbol), number);
}

function describe(stage, label) {
  const parts = [`${stage.key} ${label}`, word('status', statusOf(stage))];
  if (stage.result) parts.push(word('result', stage.result));
  parts.push(...describeChecks(stage.checks));
  if (stage.attempts > 1) parts.push(t('attempts', { n: count(stage.attempts) }));
  if (stage.startedAt && stage.completedAt) {
    parts.push(duration(Date.parse(stage.completedAt) - Date.parse(stage.startedAt)));
  }
  return parts.join(' · ');
}

/** The pipeline in a few pixels, for rows of finished sessions. */
export function stageDots(stages) {
  const dots = stages.map((stage) =>
    h('span', { class: 'dot', 'data-status': statusOf(stage), 'data-color': stageOf(stage.key).color }));
  const done = stages.filter((stage) => statusOf(stage) === 'done').length;
  const label = t('stages_done', { done: count(done), total: count(stages.length) });
  return h('span', { class: 'dots', role: 'img', 'aria-label': label, title: label }, dots);
}
