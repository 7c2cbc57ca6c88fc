// Keyboard shortcuts: `g` and a letter to go somewhere, `/` to search, `?` for help.

import { showHelp } from './parts/dialog.js';
import { t } from './text.js';

const PLACES = { o: '#/', h: '#/history', i: '#/instinct', s: '#/specs' };
const PATIENCE = 1200;

let goPressedAt = -Infinity;

export function listenToKeys() {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (press(event.key, event.timeStamp)) event.preventDefault();
  });
}

function isTyping(target) {
  return target.closest('input, textarea, select, dialog, [contenteditable]') !== null;
}

/** Returns whether the key meant something. */
function press(key, at) {
  const isSecond = at - goPressedAt < PATIENCE;
  goPressedAt = key === 'g' ? at : -Infinity;
  if (isSecond && Object.hasOwn(PLACES, key)) {
    location.hash = PLACES[key];
    return true;
  }
  if (key === '?') return help();
  return key === '/' && focusSearch();
}

function focusSearch() {
  const field = document.querySelector('[data-search]');
  field?.focus();
  return field !== null;
}

export function help() {
  showHelp([
    ['g o', t('nav_overview')], ['g h', t('nav_history')], ['g i', t('nav_instinct')], ['g s', t('nav_specs')],
    ['/', t('key_search')], ['↑ ↓ ← →', t('key_arrows')], ['Esc', t('key_escape')], ['?', t('help_title')],
  ]);
  return true;
}
