// A timeline of 100,000 events: found, filtered and scrolled through without putting it into the document.

import assert from 'node:assert/strict';

import { by, nextFrame, open, rowIds, text } from './browser.mjs';
import { scenario } from './suite.mjs';
import { until, untilEqual } from './world.mjs';

const MANY = 100_000;
// What fits into the tallest list, and as much again above and below it.
const MOST_ROWS = 120;

function event(n) {
  if (n % 1000 === 7) return { type: 'stage:start', category: 'stage', stage: 'DEV', n };
  return { type: 'tool:failure', category: 'tool', toolName: 'Bash', error: `number ${n} of many`, n };
}

/** Every event of a kind is there, and only those: as the list says and as the rows say. */
async function shows(page, type, number) {
  const count = async () => (await text(by(page, 'event-status'))).match(/\d+(,\d{3})*/)?.[0];
  const types = () => by(page, 'event-row').evaluateAll((rows) => [...new Set(rows.map((row) => row.dataset.type))]);
  // The number may still be that of the filter before, and the rows come after it.
  await untilEqual(async () => [await count(), ...(await types())], [number, type], 'the events');
}

const documentSize = (page) => page.evaluate(() => document.querySelectorAll('*').length);

async function openLongSession(world, visitor) {
  world.begin('long', 'quick');
  world.addEvents('long', Array.from({ length: MANY }, (_, n) => event(n)));
  const server = await world.serve();
  const page = await visitor(server);
  await open(page, server, '#/session/long');
  const last = world.offsets('long').at(-1);
  await until(async () => (await rowIds(page)).at(-1) === last, 'the newest event');
  await by(page, 'gantt-bar').first().waitFor();
  return { page, last };
}

scenario('search and kinds find their events among 100,000', async ({ world, visitor }) => {
  const { page, last } = await openLongSession(world, visitor);
  assert.ok((await rowIds(page)).length <= MOST_ROWS);

  // Near the beginning of the file: the whole of it must be searched.
  await by(page, 'filter-search').pressSequentially('number 321 of');
  await shows(page, 'tool:failure', '1');
  assert.match(await text(by(page, 'event-row')), /number 321 of many/);
  await by(page, 'filter-search').fill('nowhere to be found');
  await untilEqual(() => by(page, 'event-row').count(), 0, 'no rows');
  await by(page, 'filter-search').fill('');
  await until(async () => (await rowIds(page)).at(-1) === last, 'the newest event again');

  await by(page, 'filter-kind').selectOption('stage:start');
  await shows(page, 'stage:start', '100');
  await by(page, 'filter-kind').selectOption('stage');
  await shows(page, 'stage:start', '100');
  await by(page, 'filter-search').fill('"n":5007');
  await shows(page, 'stage:start', '1');
  await by(page, 'filter-search').fill('');
  await by(page, 'filter-kind').selectOption('');
  await until(async () => (await rowIds(page)).at(-1) === last, 'the newest event at last');
  assert.ok((await rowIds(page)).length <= MOST_ROWS);
});

scenario('scrolling through a long timeline does not grow the document', async ({ world, visitor }) => {
  const { page, last } = await openLongSession(world, visitor);
  const list = by(page, 'event-list');
  const before = await documentSize(page);
  const isBounded = async () => {
    assert.ok((await rowIds(page)).length <= MOST_ROWS);
    assert.ok((await documentSize(page)) <= before + MOST_ROWS);
  };
  for (let turn = 0; turn < 30; turn += 1) {
    const [top] = await rowIds(page);
    await list.evaluate((element) => element.scrollTo(0, 0));
    await until(async () => (await rowIds(page))[0] < top, 'older events');
    await isBounded();
  }
  await by(page, 'events-first').click();
  await until(async () => (await rowIds(page))[0] === 0, 'the first event');
  for (let turn = 0; turn < 30; turn += 1) {
    const bottom = (await rowIds(page)).at(-1);
    await list.evaluate((element) => element.scrollBy(0, element.clientHeight));
    await until(async () => (await rowIds(page)).at(-1) > bottom, 'newer events');
    await isBounded();
  }
  await by(page, 'events-latest').click();
  await until(async () => (await rowIds(page)).at(-1) === last, 'the newest event');
  await isBounded();
});

scenario('reading older events keeps the position and announces new ones', async ({ world, visitor }) => {
  const { page } = await openLongSession(world, visitor);
  const list = by(page, 'event-list');
  await list.evaluate((element) => element.scrollBy(0, -3000));
  await nextFrame(page);
  const seen = await rowIds(page);
  world.addEvents('long', Array.from({ length: 25 }, (_, n) => ({ type: 'tool:failure', category: 'tool', late: n })));
  await until(async () => (await text(by(page, 'events-latest'))).includes('25'), 'the number of new events');
  assert.deepEqual(await rowIds(page), seen);
  await by(page, 'events-latest').click();
  const last = world.offsets('long').at(-1);
  await until(async () => (await rowIds(page)).at(-1) === last, 'the newest event');
});

scenario('sessions are found by words, state and workflow', async ({ world, visitor }) => {
  world.begin('door', 'quick', { feature: 'front-door' });
  world.begin('roof', 'single');
  world.delegate('roof', 'developer');
  world.stopTurn('roof');
  const server = await world.serve();
  const page = await visitor(server);
  await open(page, server);
  const shown = () => page.locator('[data-test="session-card"], [data-test="session-row"]')
    .evaluateAll((all) => all.map((one) => one.dataset.id).sort());
  const shows = (ids, what) => untilEqual(shown, ids, what);
  await shows(['door', 'roof'], 'both');
  await by(page, 'filter-search').fill('front');
  await shows(['door'], 'by feature');
  await by(page, 'filter-search').fill('');
  await by(page, 'filter-state').selectOption('completed');
  await shows(['roof'], 'by state');
  await by(page, 'filter-workflow').selectOption('quick');
  await shows([], 'nothing');
  await by(page, 'reset-filters').click();
  await shows(['door', 'roof'], 'both again');
});
