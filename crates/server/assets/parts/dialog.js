// Questions and long texts, each in a real <dialog>: the browser keeps the focus inside and gives it back.

import { logIn } from '../api.js';
import { h } from '../dom.js';
import { isFleet } from '../store.js';
import { t } from '../text.js';
import { button } from './components.js';

/** Opens a dialog with `content`; resolves to the answer, `''` if it was dismissed. */
function open(name, title, content, buttons) {
  return new Promise((resolve) => {
    const id = `dialog-${name}`;
    const form = h('form', { on: { submit: closeWithAnswer } },
      h('h2', { id }, title), content, h('footer', {}, buttons));
    const dialog = h('dialog', { class: `dialog dialog-${name}`, 'aria-labelledby': id, 'data-test': id }, form);
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Closes the dialog. The page's policy forbids submitting forms, in some browsers even with `method=dialog`. */
function closeWithAnswer(event) {
  event.preventDefault();
  event.target.closest('dialog').close(event.submitter?.value ?? '');
}

function submitButton(name, label, kind) {
  return h('button', { type: 'submit', value: name, class: `button ${kind}`, 'data-test': `dialog-${name}` }, label);
}

function closeButton(name, label, kind, value = '') {
  return button(`dialog-${name}`, label, (event) => event.target.closest('dialog').close(value), { kind });
}

/** Asks for confirmation before something that cannot be undone easily. */
export async function confirm({ title, text, action, danger }) {
  const answer = await open('confirm', title, h('p', {}, text), [
    closeButton('cancel', t('cancel'), 'plain'),
    closeButton('confirm', action, danger ? 'danger' : 'primary', 'yes'),
  ]);
  return answer === 'yes';
}

/** Explains the token and accepts pasted ones until one is right; false if the user cancels. */
export async function askForToken() {
  for (let wasRejected = false; ; wasRejected = true) {
    const token = await askOnceForToken(wasRejected);
    if (!token) return false;
    try {
      await logIn({ token });
      return true;
    } catch (error) {
      if (error.status !== 401) throw error;
    }
  }
}

/** The pasted text; empty if the user cancels. */
async function askOnceForToken(wasRejected) {
  const input = h('input', {
    type: 'password', id: 'token', autocomplete: 'off', spellcheck: 'false', autofocus: true,
    'data-test': 'token-input',
  });
  const field = h('label', { class: 'field field-token', for: 'token' }, h('span', {}, t('token')), input);
  const text = [
    wasRejected && h('p', { class: 'problem-what' }, t('token_refused')),
    h('p', {}, t('token_why')),
    h('p', {}, t(isFleet() ? 'token_where_fleet' : 'token_where')),
    h('pre', {}, isFleet() ? 'overtone dashboard --fleet --open' : 'overtone dashboard --open'),
    field,
  ].filter(Boolean);
  const answer = await open('token', t('token_title'), text, [
    closeButton('cancel', t('cancel'), 'plain'),
    submitButton('save', t('token_use'), 'primary'),
  ]);
  return answer === 'save' ? input.value.trim() : '';
}

/** A message for the main agent; empty if the user cancels. */
export async function askForMessage(name) {
  const input = h('textarea', {
    id: 'message', rows: '4', required: true, autofocus: true, 'data-test': 'message-input',
  });
  const field = h('label', { class: 'field', for: 'message' }, h('span', {}, t('message')), input);
  const answer = await open('message', t('message_title', { name }), [h('p', {}, t('message_how')), field], [
    closeButton('cancel', t('cancel'), 'plain'),
    submitButton('send', t('send'), 'primary'),
  ]);
  return answer === 'send' ? input.value.trim() : '';
}

/** Shows a long text as it is. */
export function showText(title, text) {
  const body = h('pre', { class: 'long-text', tabindex: '0', 'data-test': 'long-text' }, text);
  return open('text', title, body, [closeButton('close', t('close'), 'primary')]);
}

/** The keyboard shortcuts. `rows`: pairs of keys and descriptions. */
export function showHelp(rows) {
  const lines = rows.map(([keys, words]) => [
    h('dt', {}, keys.split(' ').map((key) => h('kbd', {}, key))), h('dd', {}, words),
  ]);
  const close = closeButton('close', t('close'), 'primary');
  return open('help', t('help_title'), h('dl', { class: 'keys' }, lines), [close]);
}
