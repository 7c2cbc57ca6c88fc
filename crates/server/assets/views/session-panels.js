// Beside the events of a session: verdicts, evidence, tasks, the supervisor, handoffs, tokens, compactions.

import { getText, path } from '../api.js';
import { h } from '../dom.js';
import { table } from '../parts/charts.js';
import { empty, panel, when } from '../parts/components.js';
import { showText } from '../parts/dialog.js';
import { icon } from '../parts/icon.js';
import { taskMeter } from '../parts/session.js';
import { toastProblem } from '../parts/toast.js';
import { stageOf } from '../store.js';
import { bytes, compact, cost, count, duration, moment, percent, t, word } from '../text.js';
import { evidencePanel } from './session-evidence.js';

export function sidePanels(detail, summary) {
  return [
    verdicts(detail),
    evidencePanel(detail.evidence),
    tasks(detail.feature),
    supervisor(detail.supervisor),
    handoffs(detail),
    usage(detail.usage),
    stageCosts(detail.usage),
    compactions(detail.compactionsAt, summary),
  ];
}

const joined = (parts) => parts.filter(Boolean).join(' · ');

// Verdicts: each stage with all its attempts.

function verdicts({ spans, failures, rejections, retros }) {
  const judged = spans.filter((span) => span.kind === 'stage' && span.result);
  const list = [...Map.groupBy(judged, (span) => span.key)].map(([key, runs]) => h('li', { key },
    h('span', { class: 'verdict-stage' }, `${stageOf(key).emoji} ${key}`),
    h('ol', { class: 'verdicts' }, runs.map(verdict))));
  const limits = [[t('failures'), failures], [t('rejections'), rejections], [t('retros'), retros]];
  return panel('verdicts', t('verdicts'), null,
    list.length ? h('ul', { class: 'verdict-list' }, list) : empty(t('no_verdicts')),
    h('p', { class: 'muted' }, joined(limits.map(limit))));
}

function limit([name, { count: reached, limit: most }]) {
  return `${name} ${count(reached)}/${count(most)}`;
}

const RESULT_ICONS = { pass: 'completed', issues: 'broken', fail: 'aborted', reject: 'aborted' };

function verdict({ result, attempt, start, end }) {
  const length = end && duration(Date.parse(end) - Date.parse(start));
  const title = joined([attempt && t('attempt', { n: count(attempt) }), length]);
  return h('li', { class: 'verdict', 'data-result': result, title, 'data-test': 'verdict' },
    icon(RESULT_ICONS[result] ?? 'none'), word('result', result));
}

// Tasks of the feature.

function tasks(feature) {
  if (!feature) return null;
  const open = feature.pending.map((task) => h('li', {}, task));
  return panel('tasks', t('tasks'), taskMeter(feature),
    h('p', { class: 'muted' }, feature.name),
    open.length > 0 && h('ul', { class: 'tasks' }, open),
    feature.checked >= feature.total && empty(t('no_open_tasks')));
}

// The supervisor: each round with its evidence.

function supervisor(state) {
  if (!state || (!state.enabled && state.rounds.length === 0)) return null;
  const rounds = state.rounds.toReversed().map(round);
  return panel('supervisor', t('supervisor'), null, rounds.length ? rounds : empty(t('no_rounds')));
}

const OUTCOME_ICONS = { allow: 'completed', block: 'retry', 'not-reviewed': 'broken' };

function round({ time, round: number, outcome, reason, feedback, evidence, ...effort }) {
  const title = `${t('round', { n: count(number) })} · ${word('outcome', outcome)}`;
  const props = { class: 'round', 'data-outcome': outcome, 'data-test': 'supervisor-round' };
  return h('details', { ...props, key: `${time}-${number}` },
    h('summary', {}, icon(OUTCOME_ICONS[outcome] ?? 'none'), h('span', {}, title), when(time)),
    reason && h('p', {}, reason),
    feedback && h('pre', { class: 'quote', tabindex: '0' }, feedback),
    (evidence ?? []).map(evidenceItem),
    h('p', { class: 'muted' }, effortText(effort)));
}

function effortText({ provider, model, seconds, cost_usd: spent }) {
  return joined([provider, model, seconds && duration(seconds * 1000), spent && cost(spent)]);
}

function evidenceItem({ name, result, exit_code: code, seconds, tail }) {
  const isPassed = result === 'passed';
  const exit = !isPassed && code !== null && code !== undefined && t('exit_code', { code });
  const title = joined([name, word('evidence', result), exit, duration((seconds ?? 0) * 1000)]);
  return h('details', { class: 'proof', key: name, 'data-passed': String(isPassed), 'data-test': 'evidence' },
    h('summary', {}, icon(isPassed ? 'completed' : 'aborted'), h('span', {}, title)),
    h('pre', { class: 'quote', tabindex: '0' }, tail || t('no_output')));
}

// Handoffs.

function handoffs({ id, handoffs: files }) {
  if (files.length === 0) return null;
  const sorted = files.toSorted((a, b) => a.file.localeCompare(b.file));
  return panel('handoffs', t('handoffs'), null,
    h('ul', { class: 'files' }, sorted.map((file) => h('li', { key: file.file }, handoff(id, file)))));
}

function handoff(id, { file, stage, agent, bytes: size }) {
  const props = { type: 'button', class: 'file', title: joined([stage, agent]), 'data-test': 'handoff' };
  return h('button', { ...props, on: { click: () => openHandoff(id, file) } },
    icon('file'), h('span', { class: 'file-name' }, file), h('span', { class: 'number' }, bytes(size)));
}

async function openHandoff(id, file) {
  try {
    showText(file, await getText(path('sessions', id, 'handoffs', file)));
  } catch (error) {
    toastProblem(error);
  }
}

// Tokens and cost, by agent.

function usage(used) {
  if (!used?.agents.length) return null;
  const { agents, total } = used;
  const rows = [...Map.groupBy(agents, ({ agent }) => agent ?? t('main_agent'))]
    .map(([name, runs]) => ({ ...summed(runs), name: runs.length > 1 ? `${name} ×${count(runs.length)}` : name }))
    .sort((a, b) => b.costUsd - a.costUsd);
  const head = [t('agent'), t('tokens_in'), t('tokens_out'), t('tokens_cached'), t('cost')];
  const lines = [...rows, { ...summed([total]), name: t('total') }].map(usageLine);
  return panel('usage', t('usage'), null, table(t('usage'), head, lines, 'usage'));
}

const COUNTED = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'costUsd'];

function summed(runs) {
  return Object.fromEntries(COUNTED.map((name) => [name, runs.reduce((total, run) => total + (run[name] ?? 0), 0)]));
}

function usageLine({ name, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsd }) {
  const cached = cacheReadTokens + cacheWriteTokens;
  return [name, compact(inputTokens), compact(outputTokens), compact(cached), cost(costUsd)];
}

// Cost, by stage.

function stageCosts(used) {
  const stages = used?.stages.filter(({ stage }) => stage) ?? [];
  if (stages.length === 0) return null;
  const others = used.stages.filter(({ stage }) => !stage);
  const rows = [...stages, ...others].map((one) => [
    one.stage ? `${stageOf(one.stage).emoji} ${one.stage}` : t('no_stage'),
    one.attempts ? count(one.attempts) : '–', compact(totalTokens(one)), cost(one.costUsd),
  ]);
  const head = [t('stage'), t('tries'), t('tokens'), t('cost')];
  return panel('usage-stages', t('usage_stages'), null, table(t('usage_stages'), head, rows, 'usage-stages'));
}

function totalTokens({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }) {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}

// Compactions.

function compactions(times, { contextPercent, compactions: { auto, manual } }) {
  if (auto + manual + times.length === 0) return null;
  const isKnown = contextPercent !== null && contextPercent !== undefined;
  const used = isKnown && h('span', { class: 'muted' }, `${t('context')} ${percent(contextPercent / 100)}`);
  return panel('compactions', t('compactions'), used,
    h('p', {}, t('compaction_kinds', { auto: count(auto), manual: count(manual) })),
    h('ul', { class: 'times' }, times.map((at) => h('li', {}, h('time', { datetime: at }, moment(at))))));
}
