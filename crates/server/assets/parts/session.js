// The name and state of a session, as cards, rows and the session's own page show it.

import { h } from '../dom.js';
import { agentOf, sessions, stageOf, workflows } from '../store.js';
import { cost, count, t, word } from '../text.js';
import { choice, contextMeter, elapsed, fact, meter } from './components.js';
import { icon } from './icon.js';

// The length of the shown id, which distinguishes the sessions of one project.
const SHORT_ID = 8;

/** A summary from the details, where some fields are objects instead of numbers. */
export function summaryOf(detail) {
  const number = (value) => (typeof value === 'object' ? value?.count ?? 0 : value);
  const supervisor = supervisorSummary(detail.supervisor);
  return { ...detail, failures: number(detail.failures), rejections: number(detail.rejections), supervisor };
}

function supervisorSummary(state) {
  if (!state || (!state.enabled && state.rounds.length === 0)) return null;
  return { rounds: state.rounds.length, last: state.rounds.at(-1)?.outcome ?? null };
}

export function titleOf(session) {
  return session.projectName ?? session.project ?? session.id;
}

/** Workflow and feature: what is being done; and where, if that may be anywhere. */
export function subtitle(session) {
  const purpose = workflows().find((workflow) => workflow.name === session.workflow)?.label;
  return h('span', { class: 'subtitle' },
    session.machine && onMachine(session.machine),
    h('span', { class: 'workflow', title: purpose }, session.workflow ?? t('no_workflow')),
    session.tasks?.name && h('span', { class: 'feature' }, session.tasks.name),
    h('code', { class: 'short-id', title: session.id }, session.id.slice(0, SHORT_ID)));
}

function onMachine({ name }) {
  return h('span', { class: 'machine', title: t('machine'), 'data-test': 'session-machine' }, icon('machine'), name);
}

/** The agents at work, and for how long. */
export function activeAgents(session) {
  if (session.activeAgents.length === 0) return null;
  const list = session.activeAgents.map(activeAgent);
  return h('ul', { class: 'agents', key: 'agents', 'aria-label': t('active_agents') }, list);
}

function activeAgent({ agent, slot, stage, startedAt, background }) {
  const look = stageOf(stage ?? agentOf(agent).stage);
  const props = { class: 'agent', key: slot ?? agent, 'data-color': agentOf(agent).color };
  return h('li', { ...props, 'data-test': 'active-agent' },
    h('span', { class: 'agent-emoji', 'aria-hidden': 'true' }, look.emoji),
    h('span', { class: 'agent-name' }, slot ?? agent),
    h('span', { class: 'agent-stage' }, [stage, background && t('in_background')].filter(Boolean).join(' · ')),
    startedAt && elapsed(startedAt));
}

/** The numbers below a session's pipeline. */
export function facts(session) {
  const { tasks, loop, contextPercent, costUsd, failures, rejections, compactions, supervisor } = session;
  return h('dl', { class: 'facts', key: 'facts' },
    fact('stages', t('stages'), portion(session.done, session.total)),
    fact('tasks', t('tasks'), tasks && taskMeter(tasks)),
    fact('loop', t('loop_rounds'), loop && portion(loop.iterations, loop.limit)),
    fact('context', t('context'), isKnown(contextPercent) && contextMeter(contextPercent)),
    fact('cost', t('cost'), isKnown(costUsd) && cost(costUsd)),
    fact('repairs', t('repairs'), unlessNone(failures + rejections)),
    fact('compactions', t('compactions'), unlessNone(compactions.auto + compactions.manual)),
    fact('supervisor', t('supervisor'), supervisor && supervisorState(supervisor)));
}

const isKnown = (value) => value !== null && value !== undefined;
const unlessNone = (number) => number > 0 && count(number);
const portion = (part, whole) => `${count(part)}/${count(whole)}`;

export function taskMeter({ checked, total }) {
  return meter(checked / (total || 1), portion(checked, total), t('tasks'));
}

function supervisorState({ rounds, last }) {
  return last ? `${word('outcome', last)} · ${t('round', { n: count(rounds) })}` : t('no_rounds');
}

// Options for filters.

export function workflowChoice(value, change) {
  const names = workflows().map(({ name }) => [name, name]);
  return choice('workflow', t('workflow'), value, [['', t('all')], ...names], change);
}

/** The projects of the known sessions. */
export function projectChoice(value, change) {
  const named = [...sessions.values()].filter((session) => session.project);
  const found = new Map(named.map((session) => [session.project, titleOf(session)]));
  const sorted = [...found].sort(([, a], [, b]) => a.localeCompare(b));
  return choice('project', t('project'), value, [['', t('all')], ...sorted], change);
}
