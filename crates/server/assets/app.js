// Starts the page: texts, registry, the frame around the views, the stream of events.

import { enter, enterFromAddress, onEntered } from './api.js';
import { fill, h } from './dom.js';
import { everySecond, settle } from './frame.js';
import { help, listenToKeys } from './keys.js';
import { connect } from './live.js';
import { recall, remember } from './memory.js';
import { iconButton, tickClocks } from './parts/bits.js';
import { toastProblem } from './parts/toast.js';
import { OVERVIEW } from './paths.js';
import { routes, show } from './router.js';
import { isFleet, loadRegistry, receive, tell } from './store.js';
import { LANGUAGES, language, load, t } from './text.js';

const THEMES = ['auto', 'light', 'dark'];

const app = document.getElementById('app');
const main = h('main', { id: 'main', tabindex: '-1', 'data-test': 'main', island: true, key: 'main' });
let connection = 'reconnecting';
let place = 'overview';

async function start() {
  try {
    await enterFromAddress().catch(passOverUsedLink);
    await speak(recall(localStorage, 'overtone.lang') ?? undefined);
  } catch (error) {
    return stuck(error);
  }
  drawFrame();
  go();
  addEventListener('hashchange', async () => {
    await enterFromAddress().catch(toastProblem);
    go();
    // Screen readers continue here.
    main.querySelector('h1')?.focus({ preventScroll: true });
  });
  listenToKeys();
  everySecond((now) => tickClocks(main, now));
  // A new connection and a `resync` often come together; one refresh is enough for both.
  const refresh = settle(() => tell('refresh'), 50);
  connect({ event: receive(refresh), state: setConnection, opened: refresh });
}

/** If the link was used before, for instance by a restored tab, the page may still be logged in. */
function passOverUsedLink(error) {
  if (error.status !== 401) throw error;
}

/** Without texts, only the content of index.html is shown, which has all languages. */
function stuck(error) {
  const notice = document.getElementById(error.status === 401 ? 'locked' : 'unreachable');
  app.append(notice.content.cloneNode(true));
  const form = app.querySelector('form');
  if (!form) return;
  onEntered(() => location.reload());
  form.onsubmit = async (event) => {
    event.preventDefault();
    const input = form.querySelector('input');
    try {
      await enter({ token: input.value.trim() });
      location.reload();
    } catch {
      input.value = '';
      form.querySelector('.problem-what').hidden = false;
    }
  };
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
      h('a', { class: 'brand', href: OVERVIEW },
        h('img', { src: '/assets/favicon.svg', alt: '', width: '26', height: '26' }), 'Overtone',
        isFleet() && h('span', { class: 'brand-fleet', 'data-test': 'fleet-mode' }, t('fleet'))),
      h('nav', { 'aria-label': t('navigation') }, h('ul', {}, routes().map(link))),
      h('div', { class: 'tools' }, connectionState(), languageChoice(), themeButton(),
        iconButton('help', t('help_title'), 'help', help))),
    // The element is passed only the first time; afterwards it stays in the frame.
    main.isConnected ? h('main', { id: 'main', tabindex: '-1', 'data-test': 'main', key: 'main' }) : main);
}

/** The hash of the address is the route, so a plain link to an anchor does not work. */
function skip(event) {
  event.preventDefault();
  main.focus();
}

function link({ name, path }) {
  const isHere = name === place || (name === 'overview' && place === 'session');
  const props = { href: path, 'aria-current': isHere ? 'page' : null, 'data-test': `nav-${name}` };
  return h('li', {}, h('a', props, t(`nav_${name}`)));
}

function connectionState() {
  const props = { class: 'connection', role: 'status', 'data-state': connection, 'data-test': 'connection' };
  return h('span', { ...props, title: t(`connection_${connection}_means`) },
    h('span', { class: 'connection-dot', 'aria-hidden': 'true' }), t(`connection_${connection}`));
}

function languageChoice() {
  const options = Object.entries(LANGUAGES).map(([tag, name]) => h('option', { value: tag, lang: tag }, name));
  const pick = (event) => changeLanguage(event.target.value);
  return h('label', { class: 'field' },
    h('span', { class: 'visually-hidden' }, t('language')),
    h('select', { value: language(), 'data-test': 'language', on: { change: pick } }, options));
}

async function changeLanguage(lang) {
  try {
    await speak(lang);
    remember(localStorage, 'overtone.lang', lang);
    go();
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
  remember(localStorage, 'overtone.theme', theme === 'auto' ? null : theme);
  drawFrame();
}

start();
