// The state of the page: the registry, the sessions, and listeners for changes.

import { get } from './api.js';

const listeners = new Map();

/** Calls `listener` for each `topic`; returns a function that unsubscribes. */
export function on(topic, listener) {
  if (!listeners.has(topic)) listeners.set(topic, new Set());
  listeners.get(topic).add(listener);
  return () => listeners.get(topic).delete(listener);
}

export function publish(topic, data) {
  for (const listener of listeners.get(topic) ?? []) listener(data);
}

// The registry: names, colours, labels and tones.

let stages = new Map();
let agents = new Map();
let events = new Map();
let workflowList = [];
let fleet = false;

export async function loadRegistry(lang) {
  const registry = await get('/api/registry', { lang });
  stages = byName(registry.stages, 'id');
  agents = byName(registry.agents, 'name');
  events = byName(registry.events, 'type');
  workflowList = registry.workflows;
  fleet = registry.fleet === true;
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
export const workflows = () => workflowList;
/** Whether the sessions are those of all machines. */
export const isFleet = () => fleet;

export function eventLabel(event) {
  return events.get(event.type)?.label ?? event.label ?? event.type;
}

/** 'good', 'warn', 'bad' or 'plain'; an event of another version is plain. */
export function eventTone(event) {
  return events.get(event.type)?.tone ?? 'plain';
}

// The sessions, from lists and from the stream of events.

export const sessions = new Map();
// The offset of the last published event, by session: a reconnection repeats events.
const lastPublished = new Map();

export function addSessions(list) {
  for (const summary of list) sessions.set(summary.id, summary);
}

/** Handles the events of the stream; `refresh` is called when everything has to be reloaded. */
export function receive(refresh) {
  const resync = () => {
    lastPublished.clear();
    refresh();
  };
  const handlers = { session: replace, removed: ({ id }) => forget(id), timeline: publishOnce, resync };
  return (name, data) => Object.hasOwn(handlers, name) && handlers[name](data);
}

function replace(summary) {
  sessions.set(summary.id, summary);
  publish('session', summary);
}

function forget(id) {
  sessions.delete(id);
  lastPublished.delete(id);
  publish('removed', id);
}

function publishOnce(event) {
  if (event.id <= (lastPublished.get(event.session) ?? -1)) return;
  lastPublished.set(event.session, event.id);
  publish('timeline', event);
}
