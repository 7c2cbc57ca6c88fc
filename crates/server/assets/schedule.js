// Schedules drawing: at most once per frame, and not while the page is hidden.

const pending = new Set();
let isRequested = false;

/** Draws in the next frame. Repeated calls before that have no effect. */
export function drawSoon(draw) {
  pending.add(draw);
  requestFlush();
}

function requestFlush() {
  if (isRequested || document.hidden || pending.size === 0) return;
  isRequested = true;
  requestAnimationFrame(flush);
}

function flush() {
  isRequested = false;
  const due = [...pending];
  pending.clear();
  for (const draw of due) draw();
}

document.addEventListener('visibilitychange', requestFlush);

/** Calls `tick` every second while the page is visible; returns a function that stops it. */
export function everySecond(tick) {
  const timer = setInterval(() => document.hidden || tick(Date.now()), 1000);
  return () => clearInterval(timer);
}

/** Debounces calls by `quiet` ms; continuous calls still get through every `longest` ms. */
export function debounce(action, quiet, longest = Infinity) {
  let timer = null;
  let firstCall = 0;
  const run = () => {
    timer = null;
    action();
  };
  const debounced = () => {
    if (timer === null) firstCall = Date.now();
    clearTimeout(timer);
    timer = setTimeout(run, Math.max(0, Math.min(quiet, firstCall + longest - Date.now())));
  };
  debounced.cancel = () => {
    clearTimeout(timer);
    timer = null;
  };
  return debounced;
}
