// The results of a stage's checks in a few words, for the pipeline and the evidence.

import { h } from '../dom.js';
import { count, t, word } from '../text.js';
import { icon } from './icon.js';

export const checkIcon = (passed) => icon(passed ? 'completed' : 'aborted');

/** How many tests ran; nothing for a runner that is not known. */
export function testCounts(tests) {
  if (!tests) return null;
  return t('test_counts', { run: count(tests.run), failed: count(tests.failed), skipped: count(tests.skipped) });
}

/** Each check with its result, for tooltips and screen readers. */
export function describeChecks(checks) {
  return checks.map(({ check, passed, tests }) => {
    const parts = [word('evidence', passed ? 'passed' : 'failed'), testCounts(tests)];
    return t('check_outcome', { check, outcome: parts.filter(Boolean).join(' · ') });
  });
}

/** A chip with the results; the stage that it belongs to describes them for screen readers. */
export function checkChip(checks) {
  if (checks.length === 0) return null;
  const passed = checks.filter((check) => check.passed).length;
  const isGood = passed === checks.length;
  const props = { class: 'stage-checks', 'data-passed': String(isGood), 'data-test': 'stage-checks' };
  return h('span', { ...props, 'aria-hidden': 'true' }, checkIcon(isGood), h('span', {}, chipText(checks, passed)));
}

/** One check has room for its name and its tests; several are counted. */
function chipText(checks, passed) {
  const [{ check, tests }, ...others] = checks;
  if (others.length > 0) return `${count(passed)}/${count(checks.length)}`;
  return tests ? `${check} ${count(tests.run)}` : check;
}
