// What Overtone saw of a workflow: for each stage its verdict, the receipts of its checks, and why reports were sent
// back.

import { h } from '../dom.js';
import { checkIcon, testCounts } from '../parts/checks.js';
import { panel, when } from '../parts/components.js';
import { icon } from '../parts/icon.js';
import { stageOf } from '../store.js';
import { count, duration, t, word } from '../text.js';

const joined = (parts) => parts.filter(Boolean).join(' · ');

/** Nothing without a workflow, and before anything was seen. */
export function evidencePanel(evidence) {
  if (!evidence) return null;
  const receiptsOf = (key) => evidence.receipts.filter(({ stage }) => stage === key);
  const own = receiptsOf(null);
  const items = [
    ...evidence.stages.map((stage) => stageItem(stage, receiptsOf(stage.stage))),
    own.length > 0 && h('li', { key: 'user' }, h('h3', {}, t('receipts_of_user')), own.map(receiptItem)),
  ].filter(Boolean);
  if (items.length === 0) return null;
  return panel('evidence', t('evidence'), null, h('ul', { class: 'evidence' }, items));
}

function stageItem(stage, receipts) {
  const lines = [...findings(stage), ...earlierResults(stage, receipts), ...receipts.map(receiptItem)];
  if (lines.length === 0) return null;
  const { stage: key, result } = stage;
  const verdict = result && h('span', { class: 'verdict', 'data-result': result }, word('result', result));
  return h('li', { key, 'data-test': 'stage-evidence', 'data-key': key },
    h('h3', {}, `${stageOf(key).emoji} ${key}`, verdict), lines);
}

/** What was found out besides the receipts, a line each. */
function findings({ changedFiles, sentBack, notAccepted, untrusted, notes }) {
  const isKnown = changedFiles !== null && changedFiles !== undefined;
  return [
    isKnown && finding('file', t('changed_files', { n: count(changedFiles) })),
    ...sentBack.map(({ reason, count: n }) =>
      finding('retry', t('sent_back_for', { n: count(n), reason: word('reason', reason) }))),
    ...notAccepted.map((reason) => finding('aborted', t('not_accepted_for', { reason: word('reason', reason) }))),
    untrusted.length > 0 && finding('broken', t('checks_not_run', { names: untrusted.join(', ') })),
    ...notes.map((note) => finding('message', note)),
  ].filter(Boolean);
}

function finding(symbol, text) {
  return h('p', { class: 'finding', 'data-test': 'finding' }, icon(symbol), h('span', {}, text));
}

/** Checks that did not run again for this stage, because an earlier run was on the same files. */
function earlierResults({ checks }, receipts) {
  const ran = new Set(receipts.map(({ check }) => check));
  return checks.filter(({ check }) => !ran.has(check)).map(({ check, passed, tests }) =>
    h('p', { class: 'finding', 'data-passed': String(passed), 'data-test': 'check-result' },
      checkIcon(passed), h('span', {}, joined([check, testCounts(tests)]))));
}

function receiptItem(receipt) {
  const { check, command, passed, tests, at, durationMs, stale, output, error } = receipt;
  const title = joined([check, passed ? null : failure(receipt), testCounts(tests), duration(durationMs)]);
  const props = { class: 'proof', 'data-passed': String(passed), 'data-test': 'receipt' };
  return h('details', { ...props, key: `${check}-${at}` },
    h('summary', {}, checkIcon(passed), h('span', {}, title), stale && staleMark()),
    h('p', { class: 'muted' }, when(at)),
    h('p', { class: 'muted' }, t('command')),
    h('pre', { class: 'quote', tabindex: '0' }, command),
    error && h('p', {}, error),
    output !== null && lastOutput(output));
}

function lastOutput(output) {
  const props = { class: 'quote', tabindex: '0', 'data-test': 'receipt-output' };
  return [h('p', { class: 'muted' }, t('last_output')), h('pre', props, output || t('no_output'))];
}

function staleMark() {
  return h('span', { class: 'stale', 'data-test': 'stale' }, t('files_changed_since'));
}

function failure({ exitCode, signal, timedOut, error }) {
  if (timedOut) return word('evidence', 'timeout');
  if (error !== null) return word('evidence', 'cannot-run');
  if (signal !== null) return t('ended_by_signal', { signal });
  return exitCode === 0 ? word('evidence', 'failed') : t('exit_code', { code: exitCode });
}
