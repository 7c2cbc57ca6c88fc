// What every file of tests shares: one browser, and for each test a world and visitors that end with it.

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
 * somebody. Nobody may have seen a misdeed at the end, except those that `pardoned` matches.
 */
export function scenario(name, play, { pardoned } = {}) {
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
      const misdeeds = visits.flatMap((one) => one.misdeeds).filter((what) => !pardoned?.test(what));
      assert.deepEqual(misdeeds, []);
    } finally {
      await Promise.all(visits.map(({ context }) => context.close()));
      await world.close();
    }
  });
}
