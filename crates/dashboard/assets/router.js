// Which view the address asks for. Views are opened and closed here; nothing is fetched.

import { OVERVIEW } from './paths.js';
import { t } from './text.js';
import * as history from './views/history.js';
import * as instinct from './views/instinct.js';
import * as overview from './views/overview.js';
import * as session from './views/session.js';
import * as specs from './views/specs.js';

export const ROUTES = [
  { name: 'overview', path: OVERVIEW, view: overview },
  { name: 'history', path: '#/history', view: history },
  { name: 'instinct', path: '#/instinct', view: instinct },
  { name: 'specs', path: '#/specs', view: specs },
];

/** Route and parameters of an address; anything unknown is the overview. */
function resolve(hash) {
  const found = /^#\/session\/([^/]+)$/.exec(hash);
  if (found) return { name: 'session', view: session, params: { id: decoded(found[1]) } };
  return { params: {}, ...(ROUTES.find((route) => route.path === hash) ?? ROUTES[0]) };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

let current = null;

/** Shows in `host` what the address asks for; `arrive` gets the name of the place. */
export function show(host, arrive) {
  current?.close();
  const route = resolve(location.hash);
  host.replaceChildren();
  scrollTo(0, 0);
  arrive(route.name);
  current = route.view.open(host, route.params);
  document.title = `${current.title?.() ?? t(`nav_${route.name}`)} · Overtone`;
}
