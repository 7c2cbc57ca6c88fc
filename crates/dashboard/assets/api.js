// Talks to the server: reads JSON, steers with the token. What failed is an ApiError with the server's words.

import { recall, remember } from './memory.js';

const TOKEN = 'overtone.token';

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

export async function get(address, params, signal) {
  const response = await request(withParams(address, params), { signal });
  return response.json();
}

export async function getText(address, signal) {
  const response = await request(address, { signal });
  return response.text();
}

export async function send(method, address, body = {}) {
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token() ?? ''}` };
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

async function reach(address, options) {
  try {
    return await fetch(address, { cache: 'no-store', ...options });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    // Status 0: nobody answered, so there are no words of the server to show.
    throw new ApiError(0, address);
  }
}

// The token lives as long as the tab: another site or a later visitor finds nothing.

export function token() {
  return recall(sessionStorage, TOKEN);
}

export function setToken(value) {
  remember(sessionStorage, TOKEN, value);
}

/** Takes the token from the address bar, where `overtone dashboard --open` puts it, and leaves no trace of it there. */
export function takeTokenFromAddress() {
  const found = /^#token=(.+)$/.exec(location.hash);
  if (!found) return;
  setToken(decodeURIComponent(found[1]));
  history.replaceState(null, '', '#/');
}
