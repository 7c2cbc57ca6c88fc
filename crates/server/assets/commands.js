// Commands of the user: ask for confirmation where it matters, send the command, show the result.

import { ApiError, path, send } from './api.js';
import { askForMessage, askForToken, confirm } from './parts/dialog.js';
import { toast, toastProblem } from './parts/toast.js';
import { t, word } from './text.js';

/** Sends a command, after the user has confirmed the `question` if there is one. Resolves to whether it was done. */
async function run({ method = 'POST', address, body, question, done }) {
  if (question && !(await confirm(question))) return false;
  try {
    await sendOrLogIn(method, address, body);
    toast(done);
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    toastProblem(error);
    return false;
  }
}

/** A restarted server does not know this page, so the user is asked for the token. */
async function sendOrLogIn(method, address, body) {
  try {
    return await send(method, address, body);
  } catch (error) {
    if (error.status !== 401) throw error;
    if (!(await askForToken())) throw error;
    return send(method, address, body);
  }
}

export function stopSession(id, name) {
  return run({
    address: path('sessions', id, 'stop'),
    question: { title: t('ask_stop_title', { name }), text: t('ask_stop'), action: t('stop') },
    done: t('stopped_it', { name }),
  });
}

export function resumeSession(id, name) {
  return run({ address: path('sessions', id, 'resume'), done: t('resumed_it', { name }) });
}

export function pauseSession(id, name) {
  return run({ address: path('sessions', id, 'pause'), done: t('paused_it', { name }) });
}

/** Asks for a text and sends it to the main agent. */
export async function messageSession(id, name) {
  const text = await askForMessage(name);
  if (!text) return false;
  return run({ address: path('sessions', id, 'message'), body: { text }, done: t('told_it', { name }) });
}

export function deleteSession(id, name) {
  return run({
    method: 'DELETE', address: path('sessions', id),
    question: {
      title: t('ask_delete_title', { name }), text: t('ask_delete', { id }), action: t('delete'), danger: true,
    },
    done: t('deleted_it', { name }),
  });
}

/** `opinion`: `confirm` or `contradict`. */
export function judgeLesson(project, id, opinion) {
  return run({ address: path('instinct', id, opinion), body: { project }, done: t(`${opinion}ed_it`) });
}

export function moveFeature(project, feature, to) {
  return run({
    address: path('specs', 'move'), body: { project, feature, to },
    done: t('moved_it', { feature, shelf: word('shelf', to) }),
  });
}
