// Talks to the server: reads JSON, steers with the token. What failed is an ApiError with the server's words.

import { recall, remember } from './memory.js';
import { OVERVIEW } from './paths.js';

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

// The token lives as long as the tab: another site or a later visitor finds nothing.

export function token() {
  return recall(sessionStorage, TOKEN);
}

/** Who reads from another machine needs the token too. */
export function credentials() {
  return token() ? { Authorization: `Bearer ${token()}` } : {};
}

export function setToken(value) {
  remember(sessionStorage, TOKEN, value);
}

/** Takes the token out of the address bar, where `overtone dashboard --open` puts it. */
export function takeTokenFromAddress() {
  const found = new URLSearchParams(location.hash.slice(1)).get('token');
  if (!found) return;
  setToken(found);
  history.replaceState(null, '', OVERVIEW);
}
