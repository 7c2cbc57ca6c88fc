// Short notifications in the corner. Successes disappear by themselves; errors stay until they are dismissed.

import { h } from '../dom.js';
import { t } from '../text.js';
import { iconButton } from './components.js';
import { icon } from './icon.js';

const VISIBLE_FOR = 6000;

export function toast(text) {
  const element = show('good', 'completed', [h('p', {}, text)]);
  setTimeout(() => element.remove(), VISIBLE_FOR);
}

export function toastProblem(error) {
  const what = error.status === 0 ? t('unreachable') : error.message;
  const hint = error.status === 0 ? t('unreachable_hint') : error.hint;
  show('bad', 'broken', [h('p', {}, what), hint && h('p', { class: 'problem-hint' }, hint)]);
}

function show(tone, symbol, content) {
  const dismiss = iconButton('dismiss', t('close'), 'close', () => element.remove());
  const element = h('div', { class: 'toast', 'data-tone': tone, 'data-test': 'toast' },
    icon(symbol), h('div', {}, content), dismiss);
  document.getElementById('toasts').append(element);
  return element;
}
