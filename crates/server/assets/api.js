// Requests to the server. Failures are ApiErrors with the server's message.

import { OVERVIEW } from './paths.js';
import { readStored, writeStored } from './storage.js';

const STORAGE_KEY = 'overtone.key';

export class ApiError extends Error {
  constructor(status, error, hint) {
    super(error);
    this.status = status;
    this.hint = hint ?? null;
  }
}

/** A path below /api whose parts come from data. */
export function path(...parts) {
  return ['/api', ...parts.map(encodeURIComponent)].join('/');
}

export async function get(address, params) {
  const response = await request(withParams(address, params));
  return response.json();
}

export async function getText(address) {
  const response = await request(address);
  return response.text();
}

export async function send(method, address, body = {}) {
  const headers = { 'Content-Type': 'application/json' };
  const response = await request(address, { method, headers, body: JSON.stringify(body) });
  return response.json();
}

function withParams(address, params = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return given.length ? `${address}?${new URLSearchParams(given)}` : address;
}

async function request(address, options) {
  const response = await fetchOrFail(address, options);
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  throw new ApiError(response.status, answer.error ?? `HTTP ${response.status}`, answer.hint);
}

async function fetchOrFail(address, { headers, ...options } = {}) {
  try {
    return await fetch(address, { cache: 'no-store', headers: { ...headers, ...credentials() }, ...options });
  } catch {
    // Status 0: there was no response, so there is no message of the server to show.
    throw new ApiError(0, address);
  }
}

// A page that is logged in has a cookie, which scripts cannot read, and a key in the storage of this origin: another
// server on this machine gets the cookie, too, but never the key. Both are invalid after the server has ended. All tabs
// share them.

/** The header that authorizes this page. */
export function credentials() {
  const key = readStored(localStorage, STORAGE_KEY);
  return key ? { 'X-Overtone-Key': key } : {};
}

/** Logs in with the `{ code }` of a one-time link or a pasted `{ token }`. */
export async function logIn(proof) {
  const { key } = await send('POST', '/api/enter', proof);
  writeStored(localStorage, STORAGE_KEY, key);
}

/** Calls `listener` when another tab has logged in. */
export function onLogin(listener) {
  addEventListener('storage', (event) => {
    if (event.key === STORAGE_KEY && event.newValue) listener();
  });
}

/** Removes the code of `overtone dashboard --open` from the address bar and logs in with it. */
export async function logInFromAddress() {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (!code) return;
  history.replaceState(null, '', OVERVIEW);
  await logIn({ code });
}
