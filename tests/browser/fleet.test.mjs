// The whole fleet in one page: two machines with servers of their own, and one that shows and controls both.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { axeSource, by, open, text } from './browser.mjs';
import { axeViolations } from './accessibility.mjs';
import { scenario } from './suite.mjs';
import { World, until, untilEqual } from './world.mjs';

/** The first nats-server on PATH or where packages install it. */
function natsServer() {
  const folders = [...process.env.PATH.split(delimiter), '/usr/sbin', '/usr/local/bin'];
  const program = folders.map((folder) => join(folder, 'nats-server')).find(existsSync);
  assert.ok(program, 'nats-server is missing: `cargo xtask browser` fetches it');
  return program;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function isListening(port) {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } finally {
    socket.destroy();
  }
}

/** Plays with a real nats-server and a second machine; both end with the test. */
async function withFleet(world, play) {
  const program = natsServer();
  const port = await freePort();
  const store = mkdtempSync(join(tmpdir(), 'overtone-nats-'));
  const nats = spawn(program, ['-js', '-a', '127.0.0.1', '-p', String(port), '-sd', store], { stdio: 'ignore' });
  const ended = once(nats, 'exit');
  const other = new World();
  try {
    await until(() => isListening(port), 'the nats-server');
    world.run(['fleet', 'join', `nats://127.0.0.1:${port}`, '--name', 'desktop']);
    const invitation = world.run(['fleet', 'invite']).trim();
    other.run(['fleet', 'join', '--name', 'laptop'], { input: `${invitation}\n` });
    world.run(['fleet', 'accept', '--invited']);
    await play(other);
  } finally {
    await other.close();
    nats.kill('SIGKILL');
    await ended;
    rmSync(store, { recursive: true, force: true });
  }
}

/** A session on each machine, both at the same feature of projects with the same name. */
async function begin(world, other) {
  world.begin('first-1', 'standard', { feature: 'user-login' });
  world.delegate('first-1', 'planner');
  await world.serve();
  const server = await world.serveFleet();
  await until(async () => (await server.get('/api/fleet')).features.length === 1, 'the first claim');
  other.begin('second-2', 'quick', { feature: 'user-login' });
  other.delegate('second-2', 'developer');
  await other.serve();
  await until(async () => (await server.get('/api/fleet')).machines.length === 2, 'both machines');
  await until(async () => (await server.get('/api/sessions')).total === 2, 'both sessions');
  return server;
}

scenario('one page shows both machines and controls their sessions', ({ world, visitor }) => withFleet(world, async (other) => {
  const server = await begin(world, other);
  const page = await visitor(server);
  await open(page, server);
  await untilEqual(() => by(page, 'machine').locator('th').allTextContents(), ['desktop', 'laptop'], 'the machines');
  await by(page, 'contested').waitFor();
  await untilEqual(() => by(page, 'worker').count(), 2, 'who is at the feature');
  const card = by(page, 'session-card', { id: 'second-2' });
  assert.equal(await text(by(card, 'session-machine')), 'laptop');
  assert.equal(await by(page, 'nav-specs').count(), 0);
  await card.locator('h3 a').click();
  await by(page, 'event-row').first().waitFor();
  assert.equal(await text(by(page, 'session-machine').first()), 'laptop');
  assert.equal(await by(page, 'delete-button').count(), 0);

  await by(page, 'message-button').click();
  await by(page, 'message-input').fill('look at the tests');
  await by(page, 'dialog-send').click();
  await by(page, 'toast').first().waitFor();
  assert.match(other.json('second-2', 'workflow.json').notices.join('\n'), /look at the tests/);

  await by(page, 'stop-button').click();
  await by(page, 'dialog-confirm').locator('button[data-test="dialog-confirm"]').click();
  await page.locator('.session-head[data-state="stopped"]').waitFor();
  assert.equal(other.json('second-2', 'loop.json').stopped, true);
  assert.match(other.events('second-2').find((event) => event.reason === 'loop-stopped').by, /dashboard@desktop/);
}));

for (const theme of ['light', 'dark']) {
  scenario(`axe finds nothing grave in the fleet's page, ${theme}`, ({ world, visitor }) => withFleet(world, async (other) => {
    const server = await begin(world, other);
    const page = await visitor(server, { colorScheme: theme });
    await page.addInitScript(axeSource());
    await open(page, server);
    await by(page, 'contested').waitFor();
    assert.deepEqual(await axeViolations(page), [], 'overview');
    await page.setViewportSize({ width: 360, height: 740 });
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok((await wide()) <= 0, 'on a small screen nothing sticks out');
    await open(page, server, '#/session/second-2');
    await by(page, 'event-row').first().waitFor();
    assert.ok((await wide()) <= 0, 'nor of a session');
    await page.setViewportSize({ width: 1280, height: 900 });
    await by(page, 'message-button').click();
    await page.locator('dialog').waitFor();
    assert.deepEqual(await axeViolations(page), [], 'message');
  }));
}
