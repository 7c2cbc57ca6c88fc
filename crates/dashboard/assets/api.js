// Talks to the server: reads JSON, steers. What failed is an ApiError with the server's words.

import { recall, remember } from './memory.js';
import { OVERVIEW } from './paths.js';

const KEY = 'overtone.key';

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
  const response = await reach(address, options);
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  throw new ApiError(response.status, answer.error ?? `HTTP ${response.status}`, answer.hint);
}

async function reach(address, { headers, ...options } = {}) {
  try {
    return await fetch(address, { cache: 'no-store', headers: { ...headers, ...credentials() }, ...options });
  } catch {
    // Status 0: nobody answered, so there are no words of the server to show.
    throw new ApiError(0, address);
  }
}

// A page that was let in has a cookie, which no script sees, and a key in the storage of this very address: another
// server on this machine gets the cookie, too, but never the key. Both end with the server, so what is kept here opens
// nothing afterwards. All tabs share them.

/** What shows the server that this page was let in. */
export function credentials() {
  const key = recall(localStorage, KEY);
  return key ? { 'X-Overtone-Key': key } : {};
}

/** Asks to be let in, with `{ code }` of a one-time link or a pasted `{ token }`. */
export async function enter(shown) {
  const { key } = await send('POST', '/api/enter', shown);
  remember(localStorage, KEY, key);
}

/** Calls `act` when another tab was let in. */
export function onEntered(act) {
  addEventListener('storage', (event) => {
    if (event.key === KEY && event.newValue) act();
  });
}

/** Takes the code out of the address bar, where `overtone dashboard --open` puts it, and uses it. */
export async function enterFromAddress() {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (!code) return;
  history.replaceState(null, '', OVERVIEW);
  await enter({ code });
}
