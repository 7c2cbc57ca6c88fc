// Draws the pictures of the documentation: `cargo xtask browser --shots`.
//
// The sessions are played through the real hooks; then their times are moved to a fixed afternoon, so that the
// pictures change only when the page does.

import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { by, launch, nextFrame, open, visit } from './browser.mjs';
import { spend } from './home.mjs';
import { FAIL, PASS, World } from './world.mjs';

const NOW = Date.parse('2026-03-12T15:04:30.000Z');
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const STAMP = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
// How long agents of the pictures take.
const MINUTES = { planner: 3, architect: 5, tester: 4, developer: 11, 'code-reviewer': 6, debugger: 4 };

// The sessions.

function play(world) {
  const shop = { project: 'acme-shop' };
  world.begin('7c1e4a90-shop', 'standard', { ...shop, feature: 'password-reset' });
  for (const agent of ['planner', 'architect', 'tester', 'developer']) {
    world.delegate('7c1e4a90-shop', agent, PASS, '', shop.project);
    spend(world, '7c1e4a90-shop', agent, MINUTES[agent]);
  }
  world.failTool('7c1e4a90-shop', 'npm run lint', 'Exit code 1', shop.project);
  world.send('7c1e4a90-shop', 'code-reviewer', '', shop.project);
  world.send('7c1e4a90-shop', 'tester', 2, shop.project);
  repair(world, 'b83f02d1-blog', 'blog');
  finish(world, '15d9c7e2-api', 'billing-api', 'quick', ['code-reviewer', 'tester', 'retrospective', 'doc-updater']);
  finish(world, 'e04b61fa-shop', 'acme-shop', 'single', []);
  tick(world);
  const costs = { '7c1e4a90-shop': 1.87, 'b83f02d1-blog': 0.94, '15d9c7e2-api': 2.35, 'e04b61fa-shop': 0.41 };
  for (const [session, cost] of Object.entries(costs)) useUp(world, session, cost);
}

/** A test failed; the developer is at it again. */
function repair(world, session, project) {
  world.begin(session, 'quick', { project, feature: 'rss-feed' });
  world.delegate(session, 'developer', PASS, '', project);
  world.send(session, 'code-reviewer', '', project);
  world.send(session, 'tester', '', project);
  world.report(session, 'code-reviewer', PASS, '', project);
  world.report(session, 'tester', FAIL, '', project);
  world.delegate(session, 'debugger', PASS, '', project);
  world.send(session, 'developer', 2, project);
  spend(world, session, 'developer', 3);
}

function finish(world, session, project, workflow, more) {
  world.begin(session, workflow, { project });
  for (const agent of ['developer', ...more]) world.delegate(session, agent, PASS, '', project);
  spend(world, session, 'developer', 2);
  world.stopTurn(session, project);
}

/** Some tasks of the feature are done. */
function tick(world) {
  const tasks = ['reset token', 'mail template', 'rate limit', 'reset form', 'end-to-end test'];
  const lines = tasks.map((task, index) => `- [${index < 3 ? 'x' : ' '}] ${task}`);
  world.put('acme-shop/specs/features/in-progress/password-reset/tasks.md', `${lines.join('\n')}\n`);
}

function useUp(world, session, cost) {
  const used = { context_window: { used_percentage: 20 + cost * 12 }, cost: { total_cost_usd: cost } };
  world.run(['statusline'], { input: JSON.stringify({ session_id: session, ...used }) });
}

// The times.

/** How much time passes before an event. */
function before({ type, agent, stage }) {
  if (type === 'agent:complete') return (MINUTES[agent] ?? 2) * MINUTE;
  return stage || type.startsWith('agent:') ? 2 * SECOND : 5 * SECOND;
}

/** Moves a session so that it ended `ago` before now; every event gets a time of its own. */
function retime(world, session, ago) {
  const folder = world.inSession(session, '');
  const timeline = join(folder, 'timeline.jsonl');
  const events = world.events(session);
  const times = spread(events, NOW - ago);
  const last = (stamp) => Math.max(0, events.findLastIndex(({ ts }) => ts <= stamp));
  for (const file of filesIn(folder)) rewrite(file, (stamp) => times[last(stamp)]);
  const lines = events.map((event, index) => JSON.stringify({ ...event, ...lasted(event), ts: times[index] }));
  writeFileSync(timeline, `${lines.join('\n')}\n`);
  for (const file of filesIn(folder)) utimesSync(file, (NOW - ago) / SECOND, (NOW - ago) / SECOND);
}

/** A time for each event, the last one at `end`. */
function spread(events, end) {
  let at = end;
  return events.toReversed().map((event) => {
    const time = new Date(at).toISOString();
    at -= before(event);
    return time;
  }).toReversed();
}

function lasted(event) {
  return 'durationMs' in event ? { durationMs: (MINUTES[event.agent] ?? 2) * MINUTE } : {};
}

function filesIn(folder) {
  const all = readdirSync(folder, { recursive: true }).map((name) => join(folder, name));
  return all.filter((path) => statSync(path).isFile());
}

function rewrite(file, moved) {
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(STAMP, moved));
}

// The pictures.

async function shoot(browser, server, folder) {
  const picture = async (name, hash, ready, colorScheme) => {
    const looks = { viewport: { width: 1440, height: 900 }, deviceScaleFactor: 1, timezoneId: 'UTC', colorScheme };
    const { context, page } = await visit(browser, server, { ...looks, reducedMotion: 'reduce' });
    await page.clock.install({ time: NOW });
    await page.clock.resume();
    await open(page, server, hash);
    await by(page, ready).first().waitFor();
    await nextFrame(page);
    await page.clock.setFixedTime(NOW);
    await page.screenshot({ path: join(folder, `dashboard-${name}.png`), animations: 'disabled' });
    await context.close();
  };
  await picture('overview', '#/', 'session-row', 'light');
  await picture('session', '#/session/7c1e4a90-shop', 'handoff', 'light');
  await picture('session-dark', '#/session/7c1e4a90-shop', 'handoff', 'dark');
}

const world = new World();
const browser = await launch();
try {
  play(world);
  const ended = { '7c1e4a90-shop': 2, 'b83f02d1-blog': 4, '15d9c7e2-api': 47, 'e04b61fa-shop': 130 };
  for (const [session, minutes] of Object.entries(ended)) retime(world, session, minutes * MINUTE);
  await shoot(browser, await world.serve(), process.argv[2]);
} finally {
  await browser.close();
  await world.close();
}
