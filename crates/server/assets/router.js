// Opens and closes the view for an address. Nothing is fetched here.

import { OVERVIEW } from './paths.js';
import { isFleet } from './store.js';
import { t } from './text.js';
import * as history from './views/history.js';
import * as instinct from './views/instinct.js';
import * as overview from './views/overview.js';
import * as session from './views/session.js';
import * as specs from './views/specs.js';

const ROUTES = [
  { name: 'overview', path: OVERVIEW, view: overview },
  { name: 'history', path: '#/history', view: history },
  { name: 'instinct', path: '#/instinct', view: instinct, isOfMachine: true },
  { name: 'specs', path: '#/specs', view: specs, isOfMachine: true },
];

/** The routes of the navigation. Views of one machine's own files are hidden if all machines are shown. */
export function routes() {
  return ROUTES.filter((route) => !(route.isOfMachine && isFleet()));
}

/** The route and parameters of an address; unknown addresses lead to the overview. */
function resolve(hash) {
  const found = /^#\/session\/([^/]+)$/.exec(hash);
  if (found) return { name: 'session', view: session, params: { id: decoded(found[1]) } };
  return { params: {}, ...(routes().find((route) => route.path === hash) ?? ROUTES[0]) };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

let current = null;

/** Shows the view for the address in `host`; `arrive` gets the name of the route. */
export function show(host, arrive) {
  current?.close();
  const route = resolve(location.hash);
  host.replaceChildren();
  scrollTo(0, 0);
  arrive(route.name);
  current = route.view.open(host, route.params);
  document.title = `${current.title?.() ?? t(`nav_${route.name}`)} · Overtone`;
}
