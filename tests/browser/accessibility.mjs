// The violations that axe finds in a page; its source must be in the page already.

import { nextFrame } from './browser.mjs';

const SEVERE = new Set(['serious', 'critical']);

/** Serious and critical violations: the rule, and the elements. */
export async function axeViolations(page) {
  await animationsEnd(page);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return violations.filter(({ impact }) => SEVERE.has(impact))
    .map(({ id, nodes }) => [id, nodes.map(({ target, failureSummary }) => `${target}: ${failureSummary}`)]);
}

/** Waits until transitions have ended: axe would judge colours in between. */
async function animationsEnd(page) {
  await nextFrame(page);
  await page.evaluate(() => {
    const ending = document.getAnimations().filter((one) => one.effect.getComputedTiming().iterations !== Infinity);
    return Promise.allSettled(ending.map((one) => one.finished));
  });
}
