// Starts the page: texts, registry, the frame around the views, the stream of events.

import { takeTokenFromAddress } from './api.js';
import { fill, h } from './dom.js';
import { everySecond } from './frame.js';
import { help, listenToKeys } from './keys.js';
import { connect } from './live.js';
import { recall, remember } from './memory.js';
import { tickClocks } from './parts/bits.js';
import { icon } from './parts/icon.js';
import { ROUTES, show } from './router.js';
import { loadRegistry, receive, tell } from './store.js';
import { LANGUAGES, language, load, t } from './text.js';

const THEMES = ['auto', 'light', 'dark'];

const app = document.getElementById('app');
const main = h('main', { id: 'main', tabindex: '-1', 'data-test': 'main', island: true, key: 'main' });
let connection = 'reconnecting';
let place = 'overview';

async function start() {
  takeTokenFromAddress();
  try {
    await speak(recall(localStorage, 'overtone.lang') ?? undefined);
  } catch (error) {
    console.error(error);
    app.append(document.getElementById('unreachable').content.cloneNode(true));
    return;
  }
  drawFrame();
  go();
  addEventListener('hashchange', () => {
    go();
    // Where a screen reader goes on reading.
    main.querySelector('h1')?.focus({ preventScroll: true });
  });
  listenToKeys();
  everySecond((now) => tickClocks(main, now));
  connect({ event: receive, state: setConnection, opened: () => tell('refresh') });
}

async function speak(lang) {
  await load(lang);
  await loadRegistry(language());
}

function go() {
  show(main, (name) => {
    place = name;
    drawFrame();
  });
}

function setConnection(state) {
  if (state === connection) return;
  connection = state;
  drawFrame();
}

// The frame.

function drawFrame() {
  fill(app,
    h('a', { class: 'skip', href: '#main', on: { click: skip } }, t('skip')),
    h('header', { class: 'top' },
      h('a', { class: 'brand', href: '#/' }, h('img', { src: '/assets/favicon.svg', alt: '', width: '26', height: '26' }), 'Overtone'),
      h('nav', { 'aria-label': t('navigation') }, h('ul', {}, ROUTES.map(link))),
      h('div', { class: 'tools' }, connectionState(), languageChoice(), themeButton(), helpButton())),
    // The element itself only the first time: afterwards its place in the frame is kept.
    main.isConnected ? h('main', { id: 'main', tabindex: '-1', 'data-test': 'main', key: 'main' }) : main);
}

/** A hash in the address is a route here, so the link cannot do it by itself. */
function skip(event) {
  event.preventDefault();
  main.focus();
}

function link({ name, path }) {
  const isHere = name === place || (name === 'overview' && place === 'session');
  return h('li', {}, h('a', { href: path, 'aria-current': isHere ? 'page' : null, 'data-test': `nav-${name}` }, t(`nav_${name}`)));
}

function connectionState() {
  return h('span', { class: 'connection', role: 'status', 'aria-live': 'polite', 'data-state': connection, 'data-test': 'connection', title: t(`connection_${connection}_means`) },
    h('span', { class: 'connection-dot', 'aria-hidden': 'true' }), t(`connection_${connection}`));
}

function languageChoice() {
  const options = Object.entries(LANGUAGES).map(([tag, name]) => h('option', { value: tag, lang: tag }, name));
  return h('label', { class: 'field' }, h('span', { class: 'visually-hidden' }, t('language')),
    h('select', { value: language(), 'data-test': 'language', on: { change: (event) => changeLanguage(event.target.value) } }, options));
}

async function changeLanguage(lang) {
  await speak(lang);
  remember(localStorage, 'overtone.lang', lang);
  drawFrame();
  go();
}

function themeButton() {
  const theme = document.documentElement.dataset.theme ?? 'auto';
  const label = t(`theme_${theme}`);
  return h('button', {
    type: 'button', class: 'button quiet icon-only', 'aria-label': label, title: label, 'data-test': 'theme', 'data-theme-now': theme,
    on: { click: () => changeTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]) },
  }, icon(theme));
}

function changeTheme(theme) {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  remember(localStorage, 'overtone.theme', theme === 'auto' ? null : theme);
  drawFrame();
}

function helpButton() {
  return h('button', { type: 'button', class: 'button quiet icon-only', 'aria-label': t('help_title'), title: t('help_title'), 'data-test': 'help', on: { click: help } }, icon('help'));
}

start();
