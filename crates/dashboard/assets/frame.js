// When to draw: at most once per frame, and not at all while nobody looks.

const waiting = new Set();
let isAsked = false;

/** Draws soon. Asking again before that changes nothing. */
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

/** Calls `tick` every second while the page can be seen; returns how to stop that. */
export function everySecond(tick) {
  const timer = setInterval(() => document.hidden || tick(Date.now()), 1000);
  return () => clearInterval(timer);
}

/** Waits until nothing was asked for `quiet` ms; a steady flow still gets through every `longest` ms. */
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
