// Changing things from the page: only with access, and not by accident.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';

import { by, isLive, open, text } from './browser.mjs';
import { scenario } from './suite.mjs';
import { until, untilEqual } from './world.mjs';

const isStopped = (world) => world.json('one', 'loop.json').stopped;

const openSession = (page, server) => open(page, server, '#/session/one');

scenario('a link lets one browser in, once, and leaves nothing to copy', async ({ world, visitor }) => {
  world.begin('one', 'quick');
  const server = await world.serve();
  const [page, other] = [await visitor(server), await visitor(server)];
  const link = server.link();
  const code = link.split('#code=')[1];
  await page.goto(link);
  await isLive(page);
  assert.equal(page.url(), `${server.url}/#/`);
  const kept = await page.evaluate(() => [document.cookie, sessionStorage.length, Object.keys(localStorage)]);
  assert.deepEqual(kept, ['', 0, ['overtone.key']]);
  const all = await page.evaluate(() => JSON.stringify(localStorage) + document.documentElement.outerHTML);
  assert.ok(!all.includes(server.token) && !all.includes(code));
  await page.goBack().catch(() => {});
  assert.ok(!page.url().includes(code));

  await other.goto(link);
  await by(other, 'locked').waitFor();
  assert.ok(!(await other.content()).includes('quick'));

  // Another tab of the same browser is let in, too; also one that opens the link again.
  const tab = await page.context().newPage();
  await tab.goto(link);
  await isLive(tab);
  await by(tab, 'session-card', { id: 'one' }).waitFor();
}, { ignored: /^console: Failed to load resource: .* 401/ });

scenario('without a link the page shows nothing but the way in', async ({ world, visitor }) => {
  world.begin('one', 'quick');
  const server = await world.serve();
  const page = await visitor(server);
  await page.goto(`${server.url}/#/session/one`);
  assert.match(await text(by(page, 'locked')), /overtone dashboard --open/);
  await by(page, 'token-input').fill('wrong');
  await by(page, 'unlock').click();
  await by(page, 'token-refused').waitFor();
  await by(page, 'token-input').fill(server.token);
  await by(page, 'unlock').click();
  await isLive(page);
  await by(page, 'event-row').first().waitFor();
  const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
  assert.ok(!kept.includes(server.token));
}, { ignored: /^console: Failed to load resource: .* 401/ });

scenario('a session is stopped after a question and resumed without one', async ({ world, visitor }) => {
  world.begin('one', 'quick');
  const server = await world.serve();
  const page = await visitor(server);
  await openSession(page, server);
  await by(page, 'stop-button').click();
  await by(page, 'dialog-confirm').locator('[data-test="dialog-cancel"]').click();
  await untilEqual(() => by(page, 'dialog-confirm').count(), 0, 'the closed dialog');
  assert.equal(isStopped(world), false);

  await by(page, 'stop-button').click();
  await page.locator('dialog button[data-test="dialog-confirm"]').click();
  await by(page, 'toast', { tone: 'good' }).first().waitFor();
  assert.ok(isStopped(world));
  const stops = world.events('one').filter(({ reason }) => reason === 'loop-stopped');
  assert.deepEqual(stops.map(({ by: who }) => who), ['dashboard']);
  await by(page, 'state', { state: 'stopped' }).waitFor();

  await by(page, 'resume-button').click();
  await until(() => !isStopped(world), 'the resumption on disk');
  await by(page, 'state', { state: 'running' }).waitFor();
  await by(page, 'stop-button').waitFor();
});

scenario('a session with a feature is paused and taken up again', async ({ world, visitor }) => {
  world.begin('one', 'quick', { feature: 'door' });
  const server = await world.serve();
  const page = await visitor(server);
  await openSession(page, server);
  const isOn = (shelf) => existsSync(world.path(`garden/specs/features/${shelf}/door`));
  assert.ok(isOn('in-progress'));
  await by(page, 'pause-button').click();
  await until(() => isOn('paused'), 'the paused feature');
  await by(page, 'resume-button').click();
  await until(() => isOn('in-progress'), 'the resumed feature');
});

scenario('a session is deleted only after a yes', async ({ world, visitor }) => {
  world.begin('one', 'quick');
  const server = await world.serve();
  const page = await visitor(server);
  await openSession(page, server);
  const isThere = () => existsSync(world.inSession('one', 'workflow.json'));
  await by(page, 'delete-button').click();
  await page.locator('dialog').waitFor();
  await page.keyboard.press('Escape');
  await untilEqual(() => page.locator('dialog').count(), 0, 'the closed dialog');
  assert.ok(isThere());

  await by(page, 'delete-button').click();
  await page.locator('dialog button[data-test="dialog-confirm"]').click();
  await until(() => !isThere(), 'the deletion');
  await by(page, 'welcome').waitFor();
  assert.equal(page.url(), `${server.url}/#/`);
});

scenario('a server that was started anew asks for the token, and a wrong one is refused', async ({ world, visitor }) => {
  world.begin('one', 'quick');
  const first = await world.serve();
  const page = await visitor(first);
  await openSession(page, first);
  await first.kill();
  const server = await world.serve(first.port);
  await by(page, 'connection', { state: 'locked' }).waitFor();
  const stop = async () => {
    await by(page, 'stop-button').click();
    await page.locator('dialog button[data-test="dialog-confirm"]').click();
  };
  const give = async (token) => {
    await by(page, 'token-input').fill(token);
    await by(page, 'dialog-save').click();
  };
  await stop();
  assert.match(await text(by(page, 'dialog-token')), /overtone dashboard --open/);
  await give('wrong');
  await page.locator('dialog .problem-what').waitFor();
  await by(page, 'dialog-cancel').click();
  const trouble = by(page, 'toast', { tone: 'bad' });
  await trouble.waitFor();
  assert.ok((await text(trouble.locator('p').first())).length > 0);
  assert.ok((await text(trouble.locator('.problem-hint'))).length > 0);
  assert.equal(isStopped(world), false);

  await stop();
  await give(server.token);
  await until(() => isStopped(world), 'the stop on disk');
  await isLive(page);
}, { ignored: /^console: Failed to load resource: / });

scenario('a lesson is confirmed and contradicted', async ({ world, visitor }) => {
  world.begin('one', 'quick');
  world.failTool('one', 'npm test', 'Exit code 1\nboom');
  const server = await world.serve();
  const page = await visitor(server);
  await open(page, server, '#/instinct');
  const confidence = async () => (await server.get('/api/instinct')).projects[0].lessons[0].confidence;
  const before = await confidence();
  await by(page, 'confirm-button').first().click();
  const higher = await until(async () => (await confidence()) > before && confidence(), 'more confidence');
  await by(page, 'contradict-button').first().click();
  await until(async () => (await confidence()) < higher, 'less confidence');
});

scenario('a feature is moved by drag and drop', async ({ world, visitor }) => {
  world.begin('one', 'quick');
  world.put('garden/specs/features/backlog/door/tasks.md', '- [x] a\n- [ ] b\n');
  const server = await world.serve();
  const page = await visitor(server);
  await open(page, server, '#/specs');
  const on = (shelf) => by(by(page, 'shelf', { shelf }), 'feature-card', { feature: 'door' });
  await on('backlog').dragTo(by(page, 'shelf', { shelf: 'paused' }));
  await on('paused').waitFor();
  assert.ok(existsSync(world.path('garden/specs/features/paused/door/tasks.md')));
});
