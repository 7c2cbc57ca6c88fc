// Shared by all test files: one browser, and a world with visitors for each test.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { launch, visit } from './browser.mjs';
import { PATIENCE, World } from './world.mjs';

let browser;

before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/**
 * A test with a world of its own. `play` gets `{ world, visitor }`; `visitor(server)` opens the browser for
 * a new visitor. The test fails if a page had problems, except those that `ignored` matches.
 */
export function scenario(name, play, { ignored } = {}) {
  test(name, { timeout: 2 * PATIENCE }, async () => {
    const world = new World();
    const visits = [];
    const visitor = async (server, options) => {
      const one = await visit(browser, server, options);
      visits.push(one);
      return one.page;
    };
    try {
      await play({ world, visitor });
      const problems = visits.flatMap((one) => one.problems).filter((what) => !ignored?.test(what));
      assert.deepEqual(problems, []);
    } finally {
      await Promise.all(visits.map(({ context }) => context.close()));
      await world.close();
    }
  });
}
