// Schedules drawing: at most once per frame, and not while the page is hidden.

const waiting = new Set();
let isAsked = false;

/** Draws in the next frame. Repeated calls before that have no effect. */
export function drawSoon(draw) {
  waiting.add(draw);
  ask();
}

function ask() {
  if (isAsked || document.hidden || waiting.size === 0) return;
  isAsked = true;
  requestAnimationFrame(flush);
}

function flush() {
  isAsked = false;
  const due = [...waiting];
  waiting.clear();
  for (const draw of due) draw();
}

document.addEventListener('visibilitychange', ask);

/** Calls `tick` every second while the page is visible; returns a function that stops it. */
export function everySecond(tick) {
  const timer = setInterval(() => document.hidden || tick(Date.now()), 1000);
  return () => clearInterval(timer);
}

/** Debounces calls by `quiet` ms; continuous calls still get through every `longest` ms. */
export function settle(action, quiet, longest = Infinity) {
  let timer = null;
  let first = 0;
  const run = () => {
    timer = null;
    action();
  };
  const later = () => {
    if (timer === null) first = Date.now();
    clearTimeout(timer);
    timer = setTimeout(run, Math.max(0, Math.min(quiet, first + longest - Date.now())));
  };
  later.cancel = () => {
    clearTimeout(timer);
    timer = null;
  };
  return later;
}
