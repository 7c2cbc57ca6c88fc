// Beside the events of a session: verdicts, tasks, the supervisor, handoffs, tokens, compactions.

import { getText, path } from '../api.js';
import { h } from '../dom.js';
import { empty, meter, panel, when } from '../parts/bits.js';
import { table } from '../parts/charts.js';
import { showText } from '../parts/dialog.js';
import { icon } from '../parts/icon.js';
import { toastProblem } from '../parts/toast.js';
import { stageOf } from '../store.js';
import { bytes, compact, cost, count, duration, moment, percent, t, word } from '../text.js';

export function sidePanels(detail, summary) {
  return [
    verdicts(detail), tasks(detail.feature), supervisor(detail.supervisor),
    handoffs(detail), usage(detail.usage), compactions(detail, summary.compactions),
  ];
}

// Verdicts.

function verdicts({ spans, failures, rejections, retros }) {
  const judged = spans.filter((span) => span.kind === 'stage' && span.result);
  const byStage = [...Map.groupBy(judged, (span) => span.key)];
  const limits = h('p', { class: 'muted' },
    [limit('failures', failures), limit('rejections', rejections), limit('retros', retros)].join(' · '));
  const list = byStage.map(([key, runs]) => h('li', { key },
    h('span', { class: 'verdict-stage' }, `${stageOf(key).emoji} ${key}`), h('ol', { class: 'verdicts' }, runs.map(verdict))));
  return panel('verdicts', t('verdicts'), {}, list.length ? h('ul', { class: 'verdict-list' }, list) : empty(t('no_verdicts')), limits);
}

function limit(name, { count: reached, limit: most }) {
  return `${t(name)} ${count(reached)}/${count(most)}`;
}

const RESULT_ICONS = { pass: 'completed', issues: 'broken', fail: 'aborted', reject: 'aborted' };

function verdict({ result, attempt, start, end }) {
  const length = end ? duration(Date.parse(end) - Date.parse(start)) : null;
  const title = [attempt && t('attempt', { n: count(attempt) }), length].filter(Boolean).join(' · ');
  return h('li', { class: 'verdict', 'data-result': result, title, 'data-test': 'verdict' }, icon(RESULT_ICONS[result] ?? 'none'), word('result', result));
}

// Tasks of the feature.

function tasks(feature) {
  if (!feature) return null;
  const { name, checked, total, pending } = feature;
  const done = meter(checked / (total || 1), `${count(checked)}/${count(total)}`, t('tasks'));
  const open = pending.map((task) => h('li', {}, task));
  return panel('tasks', t('tasks'), { aside: done }, h('p', { class: 'muted' }, name),
    open.length ? h('ul', { class: 'tasks' }, open) : empty(t('no_open_tasks')));
}

// The supervisor.

function supervisor(state) {
  if (!state || (!state.enabled && state.rounds.length === 0)) return null;
  const aside = h('span', { class: 'muted' }, t(state.enabled ? 'switched_on' : 'switched_off'));
  const rounds = state.rounds.toReversed().map(round);
  return panel('supervisor', t('supervisor'), { aside }, rounds.length ? rounds : empty(t('no_rounds')));
}

const OUTCOME_ICONS = { allow: 'completed', block: 'retry', 'not-reviewed': 'broken' };

function round({ time, round: number, outcome, reason, feedback, evidence, cost_usd: spent, seconds, provider, model }) {
  const by = [provider, model].filter(Boolean).join(' / ');
  return h('details', { class: 'round', key: `${time}-${number}`, 'data-outcome': outcome, 'data-test': 'supervisor-round' },
    h('summary', {}, icon(OUTCOME_ICONS[outcome] ?? 'none'), h('span', {}, `${t('round', { n: count(number) })} · ${word('outcome', outcome)}`), when(time)),
    reason && h('p', {}, reason), feedback && h('pre', { class: 'quote' }, feedback),
    (evidence ?? []).map(proof),
    h('p', { class: 'muted' }, [by, seconds && duration(seconds * 1000), spent && cost(spent)].filter(Boolean).join(' · ')));
}

function proof({ name, result, exit_code: code, seconds, tail }) {
  const passed = result === 'passed';
  const title = [name, word('evidence', result), code !== null && code !== undefined && !passed && t('exit_code', { code }), duration((seconds ?? 0) * 1000)];
  return h('details', { class: 'proof', key: name, 'data-passed': String(passed), 'data-test': 'evidence' },
    h('summary', {}, icon(passed ? 'completed' : 'aborted'), h('span', {}, title.filter(Boolean).join(' · '))),
    h('pre', { class: 'quote', tabindex: '0' }, tail || t('no_output')));
}

// Handoffs.

function handoffs({ id, handoffs: files }) {
  if (files.length === 0) return null;
  const items = files.map(({ file, stage, agent, bytes: size }) => h('li', { key: file },
    h('button', { type: 'button', class: 'file', 'data-test': 'handoff', on: { click: () => openHandoff(id, file) } },
      icon('file'), h('span', { class: 'file-name' }, file),
      h('span', { class: 'muted' }, [stage && `${stageOf(stage).emoji} ${stage}`, agent].filter(Boolean).join(' · ')), h('span', { class: 'number' }, bytes(size)))));
  return panel('handoffs', t('handoffs'), {}, h('ul', { class: 'files' }, items));
}

async function openHandoff(id, file) {
  try {
    showText(file, await getText(path('sessions', id, 'handoffs', file)));
  } catch (error) {
    toastProblem(error);
  }
}

// Tokens and cost.

function usage({ agents, total }) {
  if (agents.length === 0) return null;
  const rows = [...Map.groupBy(agents, ({ agent }) => agent ?? t('main_agent'))].map(([name, runs]) => ({ name, runs, ...summed(runs) }));
  const line = ({ name, runs, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsd }) =>
    [runs.length > 1 ? `${name} ×${count(runs.length)}` : name, compact(inputTokens), compact(outputTokens), compact(cacheReadTokens + cacheWriteTokens), cost(costUsd)];
  const sum = [t('total'), compact(total.inputTokens), compact(total.outputTokens), compact((total.cacheReadTokens ?? 0) + (total.cacheWriteTokens ?? 0)), cost(total.costUsd)];
  const columns = [t('agent'), t('tokens_in'), t('tokens_out'), t('tokens_cached'), t('cost')];
  return panel('usage', t('usage'), {}, table(t('usage'), columns, [...rows.sort((a, b) => b.costUsd - a.costUsd).map(line), sum], 'usage'));
}

const COUNTED = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'costUsd'];

function summed(runs) {
  return Object.fromEntries(COUNTED.map((name) => [name, runs.reduce((total, run) => total + (run[name] ?? 0), 0)]));
}

// Compactions.

function compactions({ compactionsAt, contextPercent }, { auto, manual }) {
  if (auto + manual + compactionsAt.length === 0) return null;
  const used = contextPercent === null ? null : h('span', { class: 'muted' }, `${t('context')} ${percent(contextPercent / 100)}`);
  return panel('compactions', t('compactions'), { aside: used },
    h('p', {}, t('compaction_kinds', { auto: count(auto), manual: count(manual) })),
    h('ul', { class: 'times' }, compactionsAt.map((at) => h('li', {}, h('time', { datetime: at }, moment(at))))));
}
