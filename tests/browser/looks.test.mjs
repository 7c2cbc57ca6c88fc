// Themes and languages.

import assert from 'node:assert/strict';

import { by, isLive, open, text } from './browser.mjs';
import { READY, fillHome } from './home.mjs';
import { scenario } from './suite.mjs';
import { until } from './world.mjs';

const LANGUAGES = ['zh-TW', 'zh-CN', 'en'];

const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

/** All that can be read or heard: text nodes and the attributes that are said. */
const saidIn = (page) => page.evaluate(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    if (!parentElement.closest('noscript')) found.push(data);
  }
  const names = ['aria-label', 'title', 'placeholder', 'alt'];
  for (const element of document.body.querySelectorAll('*')) {
    found.push(...names.map((name) => element.getAttribute(name)).filter(Boolean));
  }
  return found.map((one) => one.trim()).filter(Boolean);
});

/** Names of texts that are shown instead of the texts, and arguments that nobody filled in. */
function untranslated(said, words) {
  const isName = (one) => Object.hasOwn(words, one) && words[one] !== one;
  return said.filter((one) => isName(one) || /<[a-z_]+>/.test(one));
}

async function settled(page, view) {
  await page.evaluate((hash) => { location.hash = hash; }, view);
  await page.locator(READY[view]).first().waitFor();
}

scenario('every view speaks three languages and nothing is left untranslated', async ({ world, visitor }) => {
  fillHome(world);
  const server = await world.serve();
  const page = await visitor(server);
  await open(page, server);
  const titles = new Set();
  for (const lang of LANGUAGES) {
    await by(page, 'language').selectOption(lang);
    await until(() => page.locator(`html[lang="${lang}"]`).count(), lang);
    const { text: words } = await server.get(`/api/text?lang=${lang}`);
    for (const view of Object.keys(READY)) {
      await settled(page, view);
      assert.deepEqual(untranslated(await saidIn(page), words), [], `${lang} ${view}`);
    }
    assert.equal(await text(by(page, 'nav-history')), words.nav_history);
    titles.add(words.nav_history);
    await page.reload();
    await isLive(page);
    assert.equal(await page.locator('html').getAttribute('lang'), lang);
    assert.equal(await text(by(page, 'nav-history')), words.nav_history);
  }
  assert.ok(titles.size >= 2);
});

scenario('the dialogs speak every language too', async ({ world, visitor }) => {
  world.begin('one', 'quick');
  const server = await world.serve();
  const page = await visitor(server);
  await open(page, server, '#/session/one');
  for (const lang of LANGUAGES) {
    await by(page, 'language').selectOption(lang);
    await until(() => page.locator(`html[lang="${lang}"]`).count(), lang);
    const { text: words } = await server.get(`/api/text?lang=${lang}`);
    for (const name of ['help', 'stop-button', 'delete-button']) {
      await by(page, name).click();
      await page.locator('dialog').waitFor();
      assert.deepEqual(untranslated(await saidIn(page), words), [], `${lang} ${name}`);
      await page.keyboard.press('Escape');
      await page.locator('dialog').waitFor({ state: 'detached' });
    }
  }
});

scenario('the theme is chosen, differs, and is remembered', async ({ world, visitor }) => {
  const server = await world.serve();
  const page = await visitor(server, { colorScheme: 'light' });
  await open(page, server);
  const grounds = {};
  for (const theme of ['light', 'dark']) {
    await until(async () => {
      if ((await by(page, 'theme').getAttribute('data-theme-now')) === theme) return true;
      await by(page, 'theme').click();
      return false;
    }, theme);
    grounds[theme] = await ground(page);
    await page.reload();
    await isLive(page);
    assert.equal(await page.locator('html').getAttribute('data-theme'), theme);
    assert.equal(await ground(page), grounds[theme]);
  }
  assert.notEqual(grounds.light, grounds.dark);
});

scenario('without a choice the page follows the system', async ({ world, visitor }) => {
  const server = await world.serve();
  const page = await visitor(server, { colorScheme: 'light' });
  await open(page, server);
  const light = await ground(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await until(async () => (await ground(page)) !== light, 'the dark ground');
});
