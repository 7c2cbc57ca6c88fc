// A home in which every view has something to show.

import { FAIL, PASS } from './world.mjs';

/** What is there in each view of this home once it is drawn. */
export const READY = {
  '#/': '[data-test="session-row"]',
  '#/session/one': '[data-test="handoff"]',
  '#/session/two': '[data-test="gantt-bar"]',
  '#/session/checked': '[data-test="receipt"]',
  '#/session/torn': '[data-test="delete-button"]',
  '#/history': '[data-test^="tile-"]',
  '#/instinct': '[data-test="lesson"]',
  '#/specs': '[data-test="feature-card"]',
};

/** Two projects, sessions in several states, features on their shelves, lessons, handoffs, tokens. */
export function fillHome(world) {
  world.begin('one', 'standard', { feature: 'user-login' });
  for (const agent of ['planner', 'architect', 'tester', 'developer']) world.delegate('one', agent);
  world.send('one', 'code-reviewer');
  world.send('one', 'tester', 2);
  world.failTool('one', 'npm test', 'Exit code 1\nboom');
  spend(world, 'one', 'developer');
  world.hook('pre-compact', 'PreCompact', 'one', { trigger: 'auto' });
  fail(world, 'two');
  world.begin('three', 'single', { project: 'blog' });
  world.delegate('three', 'developer', PASS, '', 'blog');
  world.stopTurn('three', 'blog');
  runChecks(world, 'checked');
  world.put('overtone/sessions/torn/workflow.json', '{ torn');
  shelve(world, 'garden');
}

/** A session whose test failed: it is being repaired. */
function fail(world, session) {
  world.begin(session, 'quick', { project: 'blog', feature: 'rss-feed' });
  world.delegate(session, 'developer', PASS, '', 'blog');
  world.send(session, 'code-reviewer', '', 'blog');
  world.send(session, 'tester', '', 'blog');
  world.report(session, 'code-reviewer', PASS, '', 'blog');
  world.report(session, 'tester', FAIL, '', 'blog');
  world.send(session, 'developer', 2, 'blog');
}

// It succeeds once the project has the file `good`.
const CHECK = `test -e good || { echo 'good is missing'; exit 3; }
echo 'running 24 tests'
echo 'test result: ok. 24 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s'
`;

/** A session with checks: a report that was sent back, its repair, a judge that needs no other run, and a run by the user. */
export function runChecks(world, session) {
  const project = 'workshop';
  world.put('check.sh', CHECK);
  const checks = ['[checks.test]', 'run = "sh ../check.sh"', '[checks.lint]', 'run = "echo clean"', 'stages = ["TEST"]'];
  world.put(`${project}/overtone.toml`, `${checks.join('\n')}\n`);
  world.run(['trust', '--yes'], { project });
  world.begin(session, 'quick', { project });
  world.send(session, 'developer', '', project);
  world.report(session, 'developer', PASS, '', project);
  world.put(`${project}/good`, '');
  world.report(session, 'developer', PASS, '', project);
  world.send(session, 'code-reviewer', '', project);
  world.delegate(session, 'tester', PASS, '', project);
  world.run(['checks', 'run', 'lint'], { project });
}

export function spend(world, session, agent, tokens = 1) {
  const usage = { input_tokens: 3000 * tokens, output_tokens: 900 * tokens, cache_read_input_tokens: 52_000 * tokens };
  const message = { id: `m-${agent}`, model: 'claude-sonnet-4-5', usage };
  world.put(`transcripts/${session}/subagents/agent-id-${agent}.jsonl`, `${JSON.stringify({ message })}\n`);
}

export function shelve(world, project) {
  const tasks = '---\ncreated: 2026-01-01T00:00:00Z\n---\n- [x] first\n- [ ] second\n';
  for (const [shelf, name] of [['backlog', 'dark-mode'], ['paused', 'old-idea']]) {
    world.put(`${project}/specs/features/${shelf}/${name}/tasks.md`, tasks);
  }
}
