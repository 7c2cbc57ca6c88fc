// What axe has to say about a page; its source must be in the page already.

import { nextFrame } from './browser.mjs';

const GRAVE = new Set(['serious', 'critical']);

/** What axe finds grave: the rule, and the elements. */
export async function complaints(page) {
  await stillness(page);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return violations.filter(({ impact }) => GRAVE.has(impact))
    .map(({ id, nodes }) => [id, nodes.map(({ target, failureSummary }) => `${target}: ${failureSummary}`)]);
}

/** A colour on its way to another is not what people read. */
async function stillness(page) {
  await nextFrame(page);
  await page.evaluate(() => {
    const ending = document.getAnimations().filter((one) => one.effect.getComputedTiming().iterations !== Infinity);
    return Promise.allSettled(ending.map((one) => one.finished));
  });
}
