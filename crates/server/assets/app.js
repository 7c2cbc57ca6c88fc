// Starts the page: texts, registry, the frame around the views, the stream of events.

import { logIn, logInFromAddress, onLogin } from './api.js';
import { fill, h } from './dom.js';
import { listenToKeys, showShortcuts } from './keys.js';
import { connect } from './live.js';
import { iconButton, tickClocks } from './parts/components.js';
import { toastProblem } from './parts/toast.js';
import { OVERVIEW } from './paths.js';
import { routes, show } from './router.js';
import { debounce, everySecond } from './schedule.js';
import { readStored, writeStored } from './storage.js';
import { isFleet, loadRegistry, publish, receive } from './store.js';
import { LANGUAGES, language, load, t } from './text.js';

const THEMES = ['auto', 'light', 'dark'];

const app = document.getElementById('app');
const main = h('main', { id: 'main', tabindex: '-1', 'data-test': 'main', island: true, key: 'main' });
let connection = 'reconnecting';
let currentRoute = 'overview';

async function start() {
  try {
    await logInFromAddress().catch(ignoreUsedLink);
    await loadLanguage(readStored(localStorage, 'overtone.lang') ?? undefined);
  } catch (error) {
    return showStartError(error);
  }
  drawFrame();
  showRoute();
  addEventListener('hashchange', async () => {
    await logInFromAddress().catch(toastProblem);
    showRoute();
    // Screen readers continue here.
    main.querySelector('h1')?.focus({ preventScroll: true });
  });
  listenToKeys();
  everySecond((now) => tickClocks(main, now));
  // A new connection and a `resync` often come together; one refresh is enough for both.
  const refresh = debounce(() => publish('refresh'), 50);
  connect({ event: receive(refresh), state: setConnection, opened: refresh });
}

/** If the link was used before, for instance by a restored tab, the page may still be logged in. */
function ignoreUsedLink(error) {
  if (error.status !== 401) throw error;
}

/** Without texts, only the content of index.html is shown, which has all languages. */
function showStartError(error) {
  const notice = document.getElementById(error.status === 401 ? 'locked' : 'unreachable');
  app.append(notice.content.cloneNode(true));
  const form = app.querySelector('form');
  if (!form) return;
  onLogin(() => location.reload());
  form.onsubmit = async (event) => {
    event.preventDefault();
    const input = form.querySelector('input');
    try {
      await logIn({ token: input.value.trim() });
      location.reload();
    } catch {
      input.value = '';
      form.querySelector('.problem-what').hidden = false;
    }
  };
}

async function loadLanguage(lang) {
  await load(lang);
  await loadRegistry(language());
}

function showRoute() {
  show(main, (name) => {
    currentRoute = name;
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
    h('a', { class: 'skip', href: '#main', on: { click: skipToMain } }, t('skip')),
    h('header', { class: 'top' },
      h('a', { class: 'brand', href: OVERVIEW },
        h('img', { src: '/assets/favicon.svg', alt: '', width: '26', height: '26' }), 'Overtone',
        isFleet() && h('span', { class: 'brand-fleet', 'data-test': 'fleet-mode' }, t('fleet'))),
      h('nav', { 'aria-label': t('navigation') }, h('ul', {}, routes().map(link))),
      h('div', { class: 'tools' }, connectionState(), languageChoice(), themeButton(),
        iconButton('help', t('help_title'), 'help', showShortcuts))),
    // The element is passed only the first time; afterwards it stays in the frame.
    main.isConnected ? h('main', { id: 'main', tabindex: '-1', 'data-test': 'main', key: 'main' }) : main);
}

/** The hash of the address is the route, so a plain link to an anchor does not work. */
function skipToMain(event) {
  event.preventDefault();
  main.focus();
}

function link({ name, path }) {
  const isCurrent = name === currentRoute || (name === 'overview' && currentRoute === 'session');
  const props = { href: path, 'aria-current': isCurrent ? 'page' : null, 'data-test': `nav-${name}` };
  return h('li', {}, h('a', props, t(`nav_${name}`)));
}

function connectionState() {
  const props = { class: 'connection', role: 'status', 'data-state': connection, 'data-test': 'connection' };
  return h('span', { ...props, title: t(`connection_${connection}_means`) },
    h('span', { class: 'connection-dot', 'aria-hidden': 'true' }), t(`connection_${connection}`));
}

function languageChoice() {
  const options = Object.entries(LANGUAGES).map(([tag, name]) => h('option', { value: tag, lang: tag }, name));
  const change = (event) => changeLanguage(event.target.value);
  return h('label', { class: 'field' },
    h('span', { class: 'visually-hidden' }, t('language')),
    h('select', { value: language(), 'data-test': 'language', on: { change } }, options));
}

async function changeLanguage(lang) {
  try {
    await loadLanguage(lang);
    writeStored(localStorage, 'overtone.lang', lang);
    showRoute();
  } catch (error) {
    toastProblem(error);
  }
  drawFrame();
}

function themeButton() {
  const theme = document.documentElement.dataset.theme ?? 'auto';
  const label = t(`theme_${theme}`);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  return iconButton('theme', label, theme, () => changeTheme(next), { 'data-theme-now': theme });
}

function changeTheme(theme) {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  writeStored(localStorage, 'overtone.theme', theme === 'auto' ? null : theme);
  drawFrame();
}

start();
