// A private home with sessions, played through the real binary, and servers that end with the test.
//
// Nothing is mocked: hooks are called as the client calls them.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const BINARY = process.env.OVERTONE_BIN;
// Only ends a wait that would never end; a busy machine may take its time.
export const PATIENCE = 600_000;

export const PASS = 'all good <!-- VERDICT: {"result":"PASS"} -->';
export const FAIL = '2 tests failed <!-- VERDICT: {"result":"FAIL"} -->';

/** Waits until `look` finds something and returns it; a look that fails is a look that found nothing. */
export async function until(look, what) {
  const deadline = Date.now() + PATIENCE;
  let last;
  while (Date.now() < deadline) {
    try {
      last = await look();
      if (last) return last;
    } catch (error) {
      last = error;
    }
    await pause(20);
  }
  throw new Error(`it never came: ${what}; last seen: ${last}`);
}

/** Waits until `look` gives a value equal to `expected`. */
export async function untilEqual(look, expected, what) {
  let seen;
  const isEqual = async () => {
    seen = await look();
    return JSON.stringify(seen) === JSON.stringify(expected);
  };
  await until(isEqual, what).catch(() => assert.deepEqual(seen, expected, what));
}

export class World {
  servers = [];
  changes = 0;

  constructor() {
    assert.ok(BINARY, 'OVERTONE_BIN must name the binary: run `cargo xtask browser`');
    this.root = mkdtempSync(join(tmpdir(), 'overtone-browser-'));
    for (const folder of ['home', 'garden']) mkdirSync(this.path(folder));
  }

  async close() {
    await Promise.all(this.servers.map((server) => server.kill()));
    rmSync(this.root, { recursive: true, force: true });
  }

  // Files.

  path(...below) {
    return join(this.root, ...below);
  }

  put(below, text) {
    mkdirSync(dirname(this.path(below)), { recursive: true });
    writeFileSync(this.path(below), text);
  }

  inSession(session, file) {
    return this.path('overtone/sessions', session, file);
  }

  json(session, file) {
    return JSON.parse(readFileSync(this.inSession(session, file), 'utf8'));
  }

  events(session) {
    return readFileSync(this.inSession(session, 'timeline.jsonl'), 'utf8').trim().split('\n').map(JSON.parse);
  }

  /** The byte offset of each line: the identity of an event. */
  offsets(session) {
    const lines = readFileSync(this.inSession(session, 'timeline.jsonl')).toString('latin1').split('\n').slice(0, -1);
    let at = 0;
    return lines.map((line) => {
      const start = at;
      at += line.length + 1;
      return start;
    });
  }

  /** Adds events to a timeline, as hooks write them. */
  addEvents(session, events) {
    const lines = events.map((event) => `${JSON.stringify({ ts: '2026-01-01T00:00:00.000Z', ...event })}\n`);
    appendFileSync(this.inSession(session, 'timeline.jsonl'), lines.join(''));
  }

  // The binary.

  options(project) {
    const env = {
      HOME: this.path('home'), OVERTONE_HOME: this.path('overtone'), OVERTONE_NO_DASHBOARD: '1',
      OVERTONE_LANG: 'en', OVERTONE_TEST_PATIENCE: '600', PATH: process.env.PATH,
    };
    return { env, cwd: this.path(project) };
  }

  run(arguments_, { project = 'garden', input = '' } = {}) {
    const done = spawnSync(BINARY, arguments_, { ...this.options(project), input, encoding: 'utf8' });
    assert.equal(done.status, 0, `${arguments_.join(' ')}: ${done.stderr}${done.error ?? ''}`);
    return done.stdout;
  }

  hook(name, event, session, payload = {}, project = 'garden') {
    const whole = { session_id: session, hook_event_name: event, cwd: this.path(project), ...payload };
    return JSON.parse(this.run(['hook', name], { project, input: JSON.stringify(whole) }) || '{}');
  }

  // A session.

  begin(session, workflow, { project = 'garden', feature } = {}) {
    mkdirSync(this.path(project), { recursive: true });
    const transcript = this.path('transcripts', `${session}.jsonl`);
    this.hook('on-start', 'SessionStart', session, { source: 'startup', transcript_path: transcript }, project);
    // Two machines may begin the same one here: that is what the page is to show.
    const named = feature ? ['--feature', feature, '--anyway'] : [];
    this.run(['init', workflow, '--session', session, ...named], { project });
  }

  /** An agent is sent off and begins; `n` tells several of a kind apart. */
  send(session, agent, n = '', project = 'garden') {
    const input = { subagent_type: `ot:${agent}`, description: 'work', prompt: 'do it' };
    const call = { tool_name: 'Agent', tool_use_id: `call-${agent}${n}`, tool_input: input };
    const answer = this.hook('pre-task', 'PreToolUse', session, call, project);
    assert.equal(answer.hookSpecificOutput?.permissionDecision, 'allow', JSON.stringify(answer));
    this.hook('on-agent-start', 'SubagentStart', session, who(agent, n), project);
    if (agent === 'developer') this.changeProject(project);
  }

  /** A developer that changes nothing is sent back. */
  changeProject(project) {
    this.changes += 1;
    this.put(`${project}/src/change-${this.changes}.txt`, 'work');
  }

  report(session, agent, text = PASS, n = '', project = 'garden') {
    const payload = { ...who(agent, n), last_assistant_message: text };
    this.hook('on-agent-stop', 'SubagentStop', session, payload, project);
  }

  delegate(session, agent, text, n, project) {
    this.send(session, agent, n, project);
    this.report(session, agent, text, n, project);
  }

  failTool(session, command, error, project) {
    const payload = { tool_name: 'Bash', tool_input: { command }, error, is_interrupt: false };
    this.hook('post-use-failure', 'PostToolUseFailure', session, payload, project);
  }

  /** The client ends its turn. */
  stopTurn(session, project) {
    this.hook('on-stop', 'Stop', session, { background_tasks: [] }, project);
  }

  // The server.

  serve(port = 0) {
    return this.serveBelow('overtone', ['--port', String(port)]);
  }

  /** The one that shows every machine. */
  serveFleet() {
    return this.serveBelow('overtone/fleet/mirror', ['--port', '0', '--fleet']);
  }

  async serveBelow(home, options) {
    const server = new Server(this, home, options);
    this.servers.push(server);
    await server.ready();
    return server;
  }
}

function who(agent, n) {
  return { agent_id: `id-${agent}${n}`, agent_type: `ot:${agent}` };
}

class Server {
  /** `home`: where it keeps its address and its token. */
  constructor(world, home, more) {
    this.world = world;
    this.home = home;
    const options = { ...world.options('garden'), stdio: 'ignore' };
    this.child = spawn(BINARY, ['dashboard', '--foreground', ...more], options);
    this.ended = once(this.child, 'exit');
  }

  async ready() {
    const about = this.world.path(this.home, 'dashboard/server.json');
    const found = await until(() => {
      assert.equal(this.child.exitCode, null, 'the server ended');
      const said = existsSync(about) && JSON.parse(readFileSync(about, 'utf8'));
      return said.pid === this.child.pid && said;
    }, 'the server');
    this.url = `http://${found.address}`;
    this.port = Number(new URL(this.url).port);
    this.token = readFileSync(this.world.path(this.home, 'dashboard/token'), 'utf8').trim();
  }

  /** The address that `overtone dashboard --open` gives to the browser: it works once. */
  link() {
    const opened = this.world.path('opened.html');
    rmSync(opened, { force: true });
    this.world.put('bin/xdg-open', `#!/bin/sh\ncp "$1" '${opened}'\n`);
    chmodSync(this.world.path('bin/xdg-open'), 0o755);
    const options = this.world.options('garden');
    options.env.PATH = `${this.world.path('bin')}:${options.env.PATH}`;
    const fleet = this.home.endsWith('mirror') ? ['--fleet'] : [];
    const done = spawnSync(BINARY, ['dashboard', '--open', ...fleet], { ...options, encoding: 'utf8' });
    assert.equal(done.status, 0, done.stderr);
    return /href="([^"]*)"/.exec(readFileSync(opened, 'utf8'))[1];
  }

  async get(path) {
    const response = await fetch(this.url + path, { headers: { Authorization: `Bearer ${this.token}` } });
    assert.ok(response.ok, `${path}: ${response.status}`);
    return response.json();
  }

  /** At once, as a crash would. */
  async kill() {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL');
    await this.ended;
  }
}
