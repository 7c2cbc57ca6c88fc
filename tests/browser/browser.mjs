// Chromium, and a page that notes everything that a safe page does not do.

import assert from 'node:assert/strict';
import { accessSync, constants, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';

import { PATIENCE, until } from './world.mjs';

// The packages are below the target folder, where a plain import does not look.
const require = createRequire(join(process.env.OVERTONE_BROWSER_PACKAGES ?? '.', 'package.json'));

const FLAGS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
];

export function launch() {
  const { chromium } = require('playwright-core');
  return chromium.launch({ executablePath: onPath('chromium'), args: FLAGS });
}

function onPath(name) {
  const isProgram = (path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  };
  const found = process.env.PATH.split(delimiter).map((folder) => join(folder, name)).find(isProgram);
  assert.ok(found, `${name} is not on PATH: run \`cargo xtask browser\``);
  return found;
}

/** The source of axe; it goes in as an init script because the page's policy keeps everything else out. */
export function axeSource() {
  return readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
}

/** A fresh visitor. `visit.page` is the page, `visit.problems` lists errors, dialogs and foreign requests. */
export async function visit(browser, server, options = {}) {
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const problems = [];
  await watch(page, server, problems);
  return { context, page, problems };
}

async function watch(page, server, problems) {
  page.on('console', (said) => {
    if (said.type() === 'error' || said.type() === 'warning') problems.push(`console: ${said.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.stack}`));
  page.on('dialog', async (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:' && origin !== server.url) problems.push(`elsewhere: ${request.url()}`);
  });
  await page.exposeFunction('reportProblem', (what) => problems.push(what));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) =>
      window.reportProblem(`policy: ${event.violatedDirective} ${event.blockedURI}`));
  });
}

/** An element by its test name, and attributes such as `{ id: 'one' }` for `data-id`. */
export function by(scope, name, data = {}) {
  const more = Object.entries(data).map(([key, value]) => `[data-${key}="${value}"]`).join('');
  return scope.locator(`[data-test="${name}"]${more}`);
}

export async function isLive(page) {
  await by(page, 'connection', { state: 'live' }).waitFor();
}

// The servers that each visitor was let in by.
const letIn = new WeakMap();

/** Opens a place of the page, and waits until it is drawn and follows the server. The first time by a one-time link. */
export async function open(page, server, hash = '#/') {
  const context = page.context();
  if (letIn.get(context) !== server) {
    await page.goto(server.link());
    await isLive(page);
    letIn.set(context, server);
  }
  await page.goto(`${server.url}/${hash}`);
  await isLive(page);
}

/** The status of each stage, by key. */
export function stages(scope) {
  return by(scope, 'pipeline-stage').evaluateAll((all) =>
    Object.fromEntries(all.map((stage) => [stage.dataset.key, stage.dataset.status])));
}

export function agents(scope) {
  return scope.locator('[data-test="active-agent"] .agent-name').allTextContents();
}

/** The ids of the rows in the document. Two of the same would be a fault of the list. */
export async function rowIds(page) {
  const ids = await by(page, 'event-row').evaluateAll((rows) => rows.map((row) => Number(row.dataset.id)));
  assert.equal(new Set(ids).size, ids.length, `an event is there twice: ${ids}`);
  return ids;
}

/** Every event of the list, in order, read as a person would: from the first to the last by scrolling. */
export async function allEvents(page) {
  const list = by(page, 'event-list');
  const found = new Set();
  await list.evaluate((element) => element.scrollTo(0, 0));
  for (;;) {
    await nextFrame(page);
    for (const id of await rowIds(page)) found.add(id);
    const isEnd = await list.evaluate((element) => {
      const before = element.scrollTop;
      element.scrollBy(0, element.clientHeight);
      return element.scrollTop === before;
    });
    if (isEnd) return [...found];
  }
}

/** Two frames: what the page draws in the next one is there afterwards. */
export function nextFrame(page) {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

export function text(locator) {
  return until(() => locator.textContent(), `the text of ${locator}`);
}
