// The evidence for the verdicts of a session: receipts of checks that really ran, and reports that were sent back.

import assert from 'node:assert/strict';

import { axeViolations } from './accessibility.mjs';
import { axeSource, by, open, text } from './browser.mjs';
import { runChecks } from './home.mjs';
import { scenario } from './suite.mjs';
import { PASS, untilEqual } from './world.mjs';

const ofStage = (page, key) => by(page, 'stage-evidence', { key });

/** Opens the session, with every receipt folded out. */
async function openEvidence(page, server) {
  await open(page, server, '#/session/checked');
  await by(page, 'receipt').first().waitFor();
  await page.evaluate(() => {
    for (const receipt of document.querySelectorAll('[data-test="receipt"]')) receipt.open = true;
  });
}

scenario('each stage shows its receipts and why its reports were sent back', async ({ world, visitor }) => {
  runChecks(world, 'checked');
  const server = await world.serve();
  const page = await visitor(server);
  await openEvidence(page, server);
  const dev = ofStage(page, 'DEV');
  assert.match(await text(dev.locator('h3')), /DEV\s*passed/);
  const findings = await by(dev, 'finding').allTextContents();
  assert.deepEqual(findings, ['files changed: 2', 'sent back 1×: checks failed']);
  const receipts = by(dev, 'receipt');
  assert.deepEqual(await receipts.evaluateAll((all) => all.map((one) => one.dataset.passed)), ['false', 'true']);
  const [red, green] = await receipts.locator('summary').allTextContents();
  assert.match(red, /^test · exit code 3 · .*files changed since$/);
  assert.match(green, /^test · tests: 24 run, 0 failed, 1 skipped · [^·]+$/);
  assert.equal(await by(receipts.nth(0), 'receipt-output').count(), 0, 'its log was replaced');
  assert.match(await text(by(receipts.nth(1), 'receipt-output')), /^running 24 tests\ntest result: ok/);
  assert.match(await text(receipts.nth(1)), /sh \.\.\/check\.sh/);

  // The tester's check had a receipt already, for the same files; only the other one ran.
  const judge = ofStage(page, 'TEST');
  assert.deepEqual(await by(judge, 'check-result').allTextContents(), ['test · tests: 24 run, 0 failed, 1 skipped']);
  assert.match((await by(judge, 'receipt').allTextContents()).join('|'), /^lint · [^|]*echo clean[^|]*$/);
  assert.equal(await ofStage(page, 'REVIEW').count(), 0, 'nothing was found out about it');
  assert.match(await text(page.locator('.evidence > li').last()), /^Run by you\s*lint/);

  const report = by(page, 'event-row', { type: 'agent:complete' }).first();
  assert.match(await text(report), /receipts test: passed/);
  assert.ok(!(await text(report)).includes('object'), 'fields for programs are left out');
});

scenario('a verdict in the pipeline has the results of its checks, for eyes and ears', async ({ world, visitor }) => {
  runChecks(world, 'checked');
  const server = await world.serve();
  const page = await visitor(server);
  await openEvidence(page, server);
  const stage = (key) => by(page, 'pipeline-stage', { key });
  assert.equal(await text(by(stage('DEV'), 'stage-checks')), 'test 24');
  assert.equal(await text(by(stage('TEST'), 'stage-checks')), '2/2');
  assert.equal(await by(stage('REVIEW'), 'stage-checks').count(), 0);
  const said = 'test: passed · tests: 24 run, 0 failed, 1 skipped';
  assert.ok((await text(stage('DEV').locator('.visually-hidden'))).includes(said));
  assert.ok((await stage('DEV').getAttribute('title')).includes(said));
});

scenario('evidence appears while the page is open', async ({ world, visitor }) => {
  world.begin('checked', 'quick');
  const server = await world.serve();
  const page = await visitor(server);
  await open(page, server, '#/session/checked');
  await by(page, 'panel-verdicts').waitFor();
  assert.equal(await by(page, 'panel-evidence').count(), 0, 'nothing was found out yet');
  world.send('checked', 'developer');
  world.report('checked', 'developer', 'I am done.');
  await untilEqual(() => by(page, 'finding').allTextContents(), ['sent back 1×: no verdict'], 'the report sent back');
  world.report('checked', 'developer', PASS);
  await untilEqual(() => by(page, 'finding').allTextContents(),
    ['files changed: 1', 'sent back 1×: no verdict'], 'the changed file');
});

for (const [look, options] of Object.entries({
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  narrow: { colorScheme: 'light', viewport: { width: 360, height: 800 } },
})) {
  scenario(`the evidence can be read, ${look}`, async ({ world, visitor }) => {
    runChecks(world, 'checked');
    const server = await world.serve();
    const page = await visitor(server, options);
    await page.addInitScript(axeSource());
    await openEvidence(page, server);
    assert.deepEqual(await axeViolations(page), [], look);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
  });
}
