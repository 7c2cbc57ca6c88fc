// The page follows what happens, without a reload.

import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

import { agents, allEvents, by, isLive, open, rowIds, stages, text } from './browser.mjs';
import { scenario } from './suite.mjs';
import { PASS, until, untilEqual } from './world.mjs';

const PENDING = { DEV: 'pending', REVIEW: 'pending', TEST: 'pending', RETRO: 'pending', DOCS: 'pending' };

/** Marks this very document; a reload would lose the mark. */
const mark = (page) => page.evaluate(() => { window.mark = true; });
const isMarked = (page) => page.evaluate(() => window.mark === true);

const expectStages = (scope, expected) => untilEqual(() => stages(scope), { ...PENDING, ...expected }, 'the stages');
const expectAgents = (scope, expected) => untilEqual(async () => (await agents(scope)).sort(), expected, 'the agents');

const BLOCKED = 'no database here <!-- VERDICT: {"result":"BLOCKED"} -->';

scenario('a blocked stage is not done, and the user is needed', async ({ world, visitor }) => {
  const server = await world.serve();
  const page = await visitor(server);
  await open(page, server);
  world.begin('one', 'quick');
  for (const agent of ['developer', 'code-reviewer']) world.delegate('one', agent);
  world.delegate('one', 'tester', BLOCKED);
  const card = by(page, 'session-card', { id: 'one' });
  await expectStages(card, { DEV: 'done', REVIEW: 'done', TEST: 'failed' });
  await by(card, 'needs-you').waitFor();
});

scenario('a workflow is finished when its stages are done, and completed with the end of the turn', async ({ world, visitor }) => {
  const server = await world.serve();
  const page = await visitor(server);
  await open(page, server);
  world.begin('one', 'single');
  const card = by(page, 'session-card', { id: 'one' });
  await by(card, 'state', { state: 'running' }).waitFor();
  world.delegate('one', 'developer');
  await by(card, 'state', { state: 'finished' }).waitFor();
  world.stopTurn('one');
  await by(page, 'session-row', { id: 'one', state: 'completed' }).waitFor();
});

scenario('a session is followed on the overview from its first stage to its last', async ({ world, visitor }) => {
  const server = await world.serve();
  const page = await visitor(server);
  await open(page, server);
  await by(page, 'welcome').waitFor();
  await mark(page);

  world.begin('one', 'quick');
  const card = by(page, 'session-card', { id: 'one' });
  await card.waitFor();
  await expectStages(card, {});
  world.send('one', 'developer');
  await expectStages(card, { DEV: 'active' });
  await expectAgents(card, ['developer']);
  world.report('one', 'developer');
  await expectStages(card, { DEV: 'done' });
  await expectAgents(card, []);

  world.send('one', 'code-reviewer');
  world.send('one', 'tester');
  await expectStages(card, { DEV: 'done', REVIEW: 'active', TEST: 'active' });
  await expectAgents(card, ['code-reviewer', 'tester']);
  assert.equal(await by(by(card, 'pipeline-group'), 'pipeline-stage').count(), 2);
  world.report('one', 'tester');
  await expectStages(card, { DEV: 'done', REVIEW: 'active', TEST: 'done' });
  world.report('one', 'code-reviewer');
  await expectStages(card, { DEV: 'done', REVIEW: 'done', TEST: 'done' });

  for (const agent of ['retrospective', 'doc-updater']) world.delegate('one', agent);
  world.stopTurn('one');
  await by(page, 'session-row', { id: 'one', state: 'completed' }).waitFor();
  assert.equal(await card.count(), 0);
  assert.ok(await isMarked(page));
});

scenario('the events of a session appear in its view as they happen', async ({ world, visitor }) => {
  world.begin('one', 'quick');
  const server = await world.serve();
  const page = await visitor(server);
  await open(page, server, '#/session/one');
  await mark(page);
  const caughtUp = () => untilEqual(() => rowIds(page), world.offsets('one'), 'the events');
  await caughtUp();

  world.send('one', 'developer');
  await caughtUp();
  await expectStages(page, { DEV: 'active' });
  await expectAgents(page, ['developer']);
  await by(page, 'gantt-bar', { key: 'DEV' }).first().waitFor();
  world.report('one', 'developer');
  world.failTool('one', 'npm test', 'Exit code 1\nboom');
  await caughtUp();
  await by(page, 'event-row', { type: 'tool:failure' }).click();
  assert.match(await text(by(page, 'event-details')), /Bash.*Exit code 1/);

  for (const agent of ['code-reviewer', 'tester', 'retrospective', 'doc-updater']) world.delegate('one', agent);
  world.stopTurn('one');
  await untilEqual(() => allEvents(page), world.offsets('one'), 'all events');
  await until(() => page.locator('.session-head[data-state="completed"]').count(), 'the completion');
  await by(page, 'event-row', { type: 'workflow:complete' }).waitFor();
  assert.ok(await isMarked(page));
});

scenario('a failed test is shown as failed, with its repair', async ({ world, visitor }) => {
  world.begin('one', 'quick');
  const server = await world.serve();
  const page = await visitor(server);
  await open(page, server);
  const card = by(page, 'session-card', { id: 'one' });
  world.delegate('one', 'developer');
  world.send('one', 'code-reviewer');
  world.send('one', 'tester');
  world.report('one', 'code-reviewer');
  world.report('one', 'tester', '3 failed <!-- VERDICT: {"result":"FAIL"} -->');
  await until(() => by(card, 'fact-repairs').count(), 'the number of repairs');
  world.send('one', 'developer', 2);
  await expectStages(card, { DEV: 'active', ...afterFailure(world) });
  assert.equal(await by(card, 'pipeline-stage', { key: 'DEV' }).getAttribute('data-attempts'), '2');
});

/** What the state on disk says of the two judges; the page must say the same. */
function afterFailure(world) {
  const { stages: kept } = world.json('one', 'workflow.json');
  const look = ({ status, result }) => (status === 'completed' ? (result === 'pass' ? 'done' : 'failed') : status);
  return { REVIEW: look(kept.REVIEW), TEST: look(kept.TEST) };
}

scenario('a server that dies and comes back loses nothing and doubles nothing', async ({ world, visitor }) => {
  world.begin('one', 'quick');
  const first = await world.serve();
  const page = await visitor(first);
  await open(page, first, '#/session/one');
  await mark(page);
  await untilEqual(() => rowIds(page), world.offsets('one'), 'the events');

  await first.kill();
  await until(async () => (await by(page, 'connection').getAttribute('data-state')) !== 'live', 'the lost connection');
  world.delegate('one', 'developer');
  for (let n = 0; n < 40; n += 1) world.addEvents('one', [{ type: 'tool:failure', category: 'tool', n }]);
  const second = await world.serve(first.port);
  // Events come without a pause while the page finds its way back: some before it has caught up.
  const flow = new AbortController();
  const flowing = pour(world, flow.signal);
  await comeBack(page, second);
  await until(() => by(page, 'event-row', { type: 'error:fatal' }).count(), 'the first of the new events');
  flow.abort();
  await flowing;
  world.send('one', 'code-reviewer');
  world.report('one', 'code-reviewer', PASS);
  await untilEqual(() => allEvents(page), world.offsets('one'), 'all events after the restart');
  await expectStages(page, { DEV: 'done', REVIEW: 'done' });
  assert.match(await text(by(page, 'event-status')), new RegExp(`\\b${world.offsets('one').length}\\b`));
  assert.ok(await isMarked(page));

  await page.reload();
  await isLive(page);
  await untilEqual(() => allEvents(page), world.offsets('one'), 'all events after the reload');
  world.send('one', 'tester');
  await untilEqual(() => allEvents(page), world.offsets('one'), 'all events after more');
  assert.equal(second.port, first.port);
}, { ignored: /^console: Failed to load resource: (net::ERR_|.* 401)/ });

/** A server that was started anew does not know the page. Opened again in another tab, this one goes on by itself. */
async function comeBack(page, server) {
  await by(page, 'connection', { state: 'locked' }).waitFor();
  const tab = await page.context().newPage();
  await open(tab, server);
  await tab.close();
  await isLive(page);
}

/** Adds events until it is stopped. */
async function pour(world, signal) {
  for (let n = 0; !signal.aborted; n += 1) {
    world.addEvents('one', [{ type: 'error:fatal', category: 'error', n }]);
    await pause(5);
  }
}

scenario('without a server the page says so and comes back by itself', async ({ world, visitor }) => {
  const first = await world.serve();
  const page = await visitor(first);
  await open(page, first);
  await first.kill();
  await by(page, 'connection', { state: 'offline' }).waitFor();
  await comeBack(page, await world.serve(first.port));
  world.begin('one', 'quick');
  await by(page, 'session-card', { id: 'one' }).waitFor();
  await isLive(page);
}, { ignored: /^console: Failed to load resource: (net::ERR_|.* 401)/ });
