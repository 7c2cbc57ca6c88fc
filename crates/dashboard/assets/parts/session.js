// What a session is called and how it is doing, as cards, rows and the session's own page show it.

import { h } from '../dom.js';
import { agentOf, stageOf } from '../store.js';
import { cost, count, t, word } from '../text.js';
import { contextMeter, elapsed, fact, meter } from './bits.js';

/** A summary from the details, where some fields say more than a number. */
export function summaryOf(detail) {
  const number = (value) => (typeof value === 'object' ? value?.count ?? 0 : value);
  const rounds = detail.supervisor?.rounds;
  const supervisor = Array.isArray(rounds) ? { rounds: rounds.length, last: rounds.at(-1)?.outcome ?? null } : detail.supervisor;
  return { ...detail, failures: number(detail.failures), rejections: number(detail.rejections), supervisor };
}

export function titleOf(session) {
  return session.projectName ?? session.project ?? session.id;
}

/** Workflow and feature: what is being done. */
export function subtitle(session) {
  return h('span', { class: 'subtitle' },
    h('span', { class: 'workflow' }, session.workflow ?? t('no_workflow')),
    session.tasks?.name && h('span', { class: 'feature' }, session.tasks.name));
}

/** Who is at work, and for how long. */
export function activeAgents(session) {
  if (session.activeAgents.length === 0) return null;
  return h('ul', { class: 'agents', 'aria-label': t('active_agents'), key: 'agents' }, session.activeAgents.map(activeAgent));
}

function activeAgent({ agent, slot, stage, startedAt, background }) {
  const look = stageOf(stage ?? agentOf(agent).stage);
  return h('li', { class: 'agent', key: slot ?? agent, 'data-color': agentOf(agent).color, 'data-test': 'active-agent' },
    h('span', { class: 'agent-emoji', 'aria-hidden': 'true' }, look.emoji),
    h('span', { class: 'agent-name' }, slot ?? agent),
    h('span', { class: 'agent-stage' }, [stage, background && t('in_background')].filter(Boolean).join(' · ')),
    startedAt && elapsed(startedAt));
}

/** The numbers below a session's pipeline. */
export function facts(session) {
  const { tasks, loop, contextPercent, compactions, supervisor } = session;
  const repairs = session.failures + session.rejections;
  return h('dl', { class: 'facts', key: 'facts' },
    fact(t('stages'), portion(session.done, session.total), 'fact-stages'),
    tasks && fact(t('tasks'), meter(tasks.checked / (tasks.total || 1), portion(tasks.checked, tasks.total), t('tasks')), 'fact-tasks'),
    loop && fact(t('loop_rounds'), portion(loop.iterations, loop.limit), 'fact-loop'),
    known(contextPercent) && fact(t('context'), contextMeter(contextPercent), 'fact-context'),
    known(session.costUsd) && fact(t('cost'), cost(session.costUsd), 'fact-cost'),
    repairs > 0 && fact(t('repairs'), count(repairs), 'fact-repairs'),
    compactions.auto + compactions.manual > 0 && fact(t('compactions'), count(compactions.auto + compactions.manual), 'fact-compactions'),
    supervisor && fact(t('supervisor'), supervisorState(supervisor), 'fact-supervisor'));
}

const known = (value) => value !== null && value !== undefined;

function portion(part, whole) {
  return `${count(part)}/${count(whole)}`;
}

function supervisorState({ rounds, last }) {
  const number = t('rounds', { n: count(rounds) });
  return last ? h('span', { 'data-outcome': last }, `${word('outcome', last)} · ${number}`) : number;
}
