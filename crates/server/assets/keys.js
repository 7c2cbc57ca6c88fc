// Keyboard shortcuts: `g` and a letter to go somewhere, `/` to search, `?` for help.

import { showHelp } from './parts/dialog.js';
import { t } from './text.js';

const ROUTES = { o: '#/', h: '#/history', i: '#/instinct', s: '#/specs' };
const SEQUENCE_TIMEOUT = 1200;

let goPressedAt = -Infinity;

export function listenToKeys() {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (handleKey(event.key, event.timeStamp)) event.preventDefault();
  });
}

function isTyping(target) {
  return target.closest('input, textarea, select, dialog, [contenteditable]') !== null;
}

/** Returns whether the key is a shortcut. */
function handleKey(key, at) {
  const isSecond = at - goPressedAt < SEQUENCE_TIMEOUT;
  goPressedAt = key === 'g' ? at : -Infinity;
  if (isSecond && Object.hasOwn(ROUTES, key)) {
    location.hash = ROUTES[key];
    return true;
  }
  if (key === '?') return showShortcuts();
  return key === '/' && focusSearch();
}

function focusSearch() {
  const field = document.querySelector('[data-search]');
  field?.focus();
  return field !== null;
}

export function showShortcuts() {
  showHelp([
    ['g o', t('nav_overview')], ['g h', t('nav_history')], ['g i', t('nav_instinct')], ['g s', t('nav_specs')],
    ['/', t('key_search')], ['↑ ↓ ← →', t('key_arrows')], ['Esc', t('key_escape')], ['?', t('help_title')],
  ]);
  return true;
}
