// What the page knows: the registry, the sessions, and who wants to hear of changes.

import { get } from './api.js';

const listeners = new Map();

/** Calls `listener` for each `topic`; returns how to stop that. */
export function on(topic, listener) {
  if (!listeners.has(topic)) listeners.set(topic, new Set());
  listeners.get(topic).add(listener);
  return () => listeners.get(topic).delete(listener);
}

export function tell(topic, data) {
  for (const listener of listeners.get(topic) ?? []) listener(data);
}

// The registry: names, colours and labels of everything.

let stages = new Map();
let agents = new Map();
let events = new Map();
let workflows = [];

export async function loadRegistry(lang) {
  const registry = await get('/api/registry', { lang });
  stages = byName(registry.stages, 'id');
  agents = byName(registry.agents, 'name');
  events = byName(registry.events, 'type');
  workflows = registry.workflows;
}

function byName(list, field) {
  return new Map(list.map((item) => [item[field], item]));
}

/** The stage behind a key such as `TEST:2`; another version's stage is shown by its key. */
export function stageOf(key) {
  const id = String(key ?? '').split(':')[0];
  return stages.get(id) ?? { id, label: id, emoji: '•', color: 'gray' };
}

export function agentOf(name) {
  return agents.get(name) ?? { name, stage: null, color: 'gray' };
}

export const eventKinds = () => [...events.values()];
export const workflowNames = () => workflows.map((workflow) => workflow.name);

export function eventLabel(event) {
  return events.get(event.type)?.label ?? event.label ?? event.type;
}

// The sessions, as lists and the stream told of them.

export const sessions = new Map();
// The offset of the last event that was passed on, by session: what a reconnection repeats is dropped here.
const passedOn = new Map();

export function keep(list) {
  for (const summary of list) sessions.set(summary.id, summary);
}

/** Takes in one event of the stream. */
export function receive(name, data) {
  if (name === 'session') replace(data);
  else if (name === 'removed') forget(data.id);
  else if (name === 'timeline') passOn(data);
  else if (name === 'resync') tell('refresh');
}

function replace(summary) {
  sessions.set(summary.id, summary);
  tell('session', summary);
}

export function forget(id) {
  sessions.delete(id);
  passedOn.delete(id);
  tell('removed', id);
}

function passOn(event) {
  if (event.id <= (passedOn.get(event.session) ?? -1)) return;
  passedOn.set(event.session, event.id);
  tell('timeline', event);
}
