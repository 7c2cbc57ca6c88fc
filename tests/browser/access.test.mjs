// The page works with a keyboard and with a screen reader.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';

import { axeSource, by, open } from './browser.mjs';
import { axeViolations } from './accessibility.mjs';
import { READY, fillHome } from './home.mjs';
import { scenario } from './suite.mjs';
import { until } from './world.mjs';

async function isAccessible(page, where) {
  assert.deepEqual(await axeViolations(page), [], where);
}

async function visitWithAxe(visitor, server, theme) {
  const page = await visitor(server, { colorScheme: theme });
  await page.addInitScript(axeSource());
  return page;
}

for (const theme of ['light', 'dark']) {
  scenario(`axe finds nothing grave in the empty page, ${theme}`, async ({ world, visitor }) => {
    const server = await world.serve();
    const page = await visitWithAxe(visitor, server, theme);
    const empty = { '#/': 'welcome', '#/history': 'no-stats', '#/instinct': 'no-lessons', '#/specs': 'no-specs' };
    for (const [view, name] of Object.entries(empty)) {
      await open(page, server, view);
      await by(page, name).waitFor();
      await isAccessible(page, `${theme} ${view}`);
    }
  });

  scenario(`axe finds nothing grave in the full page, ${theme}`, async ({ world, visitor }) => {
    fillHome(world);
    const server = await world.serve();
    const page = await visitWithAxe(visitor, server, theme);
    for (const [view, ready] of Object.entries(READY)) {
      await open(page, server, view);
      await page.locator(ready).first().waitFor();
      await isAccessible(page, `${theme} ${view}`);
    }
  }, { ignored: /^console: Failed to load resource: / });

  scenario(`axe finds nothing grave in dialogs, menus and details, ${theme}`, async ({ world, visitor }) => {
    fillHome(world);
    const server = await world.serve();
    const page = await visitWithAxe(visitor, server, theme);
    await open(page, server, '#/session/one');
    for (const name of ['help', 'stop-button', 'delete-button', 'handoff']) {
      await by(page, name).first().click();
      await page.locator('dialog').waitFor();
      await isAccessible(page, `${theme} dialog of ${name}`);
      await page.keyboard.press('Escape');
      await page.locator('dialog').waitFor({ state: 'detached' });
    }
    await by(page, 'event-row').first().click();
    await by(page, 'event-details').waitFor();
    await isAccessible(page, `${theme} details`);
    await open(page, server, '#/specs');
    await by(page, 'move-menu').first().click();
    await by(page, 'move-to').first().waitFor();
    await isAccessible(page, `${theme} menu`);
    await page.keyboard.press('Escape');

    await page.evaluate(() => { location.hash = '#/session/one'; });
    await by(page, 'event-row').first().waitFor();
    await server.kill();
    await world.serve(server.port);
    await by(page, 'connection', { state: 'locked' }).waitFor();
    await isAccessible(page, `${theme} locked`);
    await by(page, 'resume-button').or(by(page, 'pause-button')).first().click();
    await by(page, 'dialog-token').waitFor();
    await isAccessible(page, `${theme} token`);
    await page.goto(`${server.url}/`);
    await page.reload();
    await by(page, 'locked').waitFor();
    await isAccessible(page, `${theme} not let in`);
  }, { ignored: /^console: Failed to load resource: / });
}

// By keyboard only.

/** Tabs until the focus is on what `selector` names. */
async function tabTo(page, selector) {
  const isThere = () => page.evaluate((css) => document.activeElement?.matches(css) ?? false, selector);
  for (let presses = 0; presses < 80; presses += 1) {
    await page.keyboard.press('Tab');
    if (await isThere()) return;
  }
  assert.fail(`the keyboard does not reach ${selector}`);
}

/** The page waits only so long for the second key; on a busy machine it may need another try. */
async function goByKeys(page, key, address) {
  await until(async () => {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    return page.url() === address;
  }, `g ${key}`);
}

const hasFocus = (page, selector) =>
  until(() => page.evaluate((css) => document.activeElement?.matches(css), selector), `the focus on ${selector}`);

scenario('a session is opened and stopped by keyboard, and the focus comes back', async ({ world, visitor }) => {
  world.begin('one', 'quick');
  const server = await world.serve();
  const page = await visitor(server);
  await open(page, server);
  await by(page, 'session-card').waitFor();
  await tabTo(page, '[data-test="session-card"] h3 a');
  await page.keyboard.press('Enter');
  await hasFocus(page, 'main h1');
  await tabTo(page, '[data-test="stop-button"]');
  await page.keyboard.press('Enter');
  await page.locator('dialog').waitFor();
  await page.keyboard.press('Escape');
  await hasFocus(page, '[data-test="stop-button"]');
  await page.keyboard.press('Enter');
  await tabTo(page, 'dialog button[data-test="dialog-confirm"]');
  await page.keyboard.press('Enter');
  await until(() => world.json('one', 'loop.json').stopped, 'the stop on disk');
});

scenario('a feature is moved by keyboard', async ({ world, visitor }) => {
  fillHome(world);
  const server = await world.serve();
  const page = await visitor(server);
  await open(page, server);
  await goByKeys(page, 's', `${server.url}/#/specs`);
  await by(page, 'feature-card', { feature: 'dark-mode' }).waitFor();
  await tabTo(page, '[data-feature="dark-mode"] [data-test="move-menu"]');
  await page.keyboard.press('Enter');
  await hasFocus(page, '[data-test="move-to"]');
  await page.keyboard.press('Escape');
  await hasFocus(page, '[data-feature="dark-mode"] [data-test="move-menu"]');
  await page.keyboard.press('ArrowDown');
  await hasFocus(page, '[data-test="move-to"][data-to="in-progress"]');
  await page.keyboard.press('ArrowDown');
  await hasFocus(page, '[data-test="move-to"][data-to="paused"]');
  await page.keyboard.press('Enter');
  await by(by(page, 'shelf', { shelf: 'paused' }), 'feature-card', { feature: 'dark-mode' }).waitFor();
  assert.ok(existsSync(world.path('garden/specs/features/paused/dark-mode/tasks.md')));
});

scenario('keys go places, open help, and stay out of the way of typing', async ({ world, visitor }) => {
  fillHome(world);
  const server = await world.serve();
  const page = await visitor(server);
  await open(page, server);
  await page.keyboard.press('?');
  await by(page, 'dialog-help').waitFor();
  await page.keyboard.press('Escape');
  await by(page, 'dialog-help').waitFor({ state: 'detached' });
  for (const [key, place] of [['h', 'history'], ['i', 'instinct'], ['s', 'specs'], ['o', '']]) {
    await goByKeys(page, key, `${server.url}/#/${place}`);
  }
  await by(page, 'filter-search').waitFor();
  await page.keyboard.press('/');
  await hasFocus(page, '[data-test="filter-search"]');
  await page.keyboard.type('gh?');
  assert.equal(await by(page, 'filter-search').inputValue(), 'gh?');
  assert.equal(await by(page, 'dialog-help').count(), 0);
  assert.equal(page.url(), `${server.url}/#/`);
});

scenario('events are walked through by arrows', async ({ world, visitor }) => {
  fillHome(world);
  const server = await world.serve();
  const page = await visitor(server);
  await open(page, server, '#/session/one');
  await by(page, 'event-row').first().waitFor();
  await tabTo(page, '[data-test="event-list"]');
  const chosen = () => by(page, 'event-list').getAttribute('aria-activedescendant');
  await page.keyboard.press('ArrowUp');
  const last = await until(chosen, 'the last event');
  await page.keyboard.press('ArrowUp');
  await until(async () => (await chosen()) !== last, 'the one before');
  await page.keyboard.press('End');
  await until(async () => (await chosen()) === last, 'the last event again');
  await by(page, 'event-details').waitFor();
});

scenario('on a small screen nothing sticks out', async ({ world, visitor }) => {
  fillHome(world);
  const server = await world.serve();
  const page = await visitor(server, { viewport: { width: 360, height: 740 } });
  for (const [view, ready] of Object.entries(READY)) {
    await open(page, server, view);
    await page.locator(ready).first().waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, `${view} is ${wide} px too wide`);
  }
}, { ignored: /^console: Failed to load resource: / });
