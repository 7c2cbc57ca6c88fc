// Computes the bars, rows and lanes of the chart, without drawing.

const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

const MINUTES = [1, 2, 5, 10, 15, 30, 60, 120, 360, 720, 1440, 10_080];
const STEPS = [1000, 5000, 15_000, 30_000, ...MINUTES.map((number) => number * MINUTE)];
// Neighbours that are narrower and closer than this are drawn as one bar: they are indistinguishable, and thousands
// would be slow.
const MIN_BAR_PIXELS = 4;
const MIN_GAP_PIXELS = 2;

const BAD = new Set(['fail', 'reject', 'blocked', 'error']);

/**
 * A bar may stand for several `runs`, of which some went `bad`. Without an `end` it is still running; `active` has
 * the agents and stages that are. A bar without an end that is not active ended without an event: `isLost`.
 */
export function toBar(span, active) {
  const start = Date.parse(span.start);
  const isLost = !span.end && !active.has(span.agent || span.key);
  const end = isLost ? start : span.end ? Date.parse(span.end) : null;
  return { ...span, start, end, isLost, runs: 1, bad: Number(BAD.has(span.result)) };
}

/** Rows in the order of the workflow's `keys`; agents that have no stage there come last. */
export function toRows(bars, keys) {
  const known = new Set(keys);
  const rows = Map.groupBy(bars, (bar) => (known.has(bar.key) ? bar.key : bar.agent || bar.key));
  const rank = (name) => (known.has(name) ? keys.indexOf(name) : keys.length);
  return [...rows].sort(([a], [b]) => rank(a) - rank(b));
}

/** Puts overlapping bars into separate lanes. */
export function toLanes(bars, now) {
  const lanes = [];
  for (const bar of bars.toSorted((a, b) => a.start - b.start)) {
    const free = lanes.find((lane) => (lane.at(-1).end ?? now) <= bar.start);
    if (free) free.push(bar);
    else lanes.push([bar]);
  }
  return lanes;
}

/** Joins thin neighbours of a lane that would touch. `pixel`: how long a pixel takes. */
export function merge(lane, pixel) {
  const isThin = (bar) => bar.end !== null && bar.end - bar.start < MIN_BAR_PIXELS * pixel;
  const joined = [];
  for (const bar of lane) {
    const last = joined.at(-1);
    const isNear = last?.isThin && bar.start - last.end < MIN_GAP_PIXELS * pixel;
    if (isNear && isThin(bar)) join(last, bar);
    else joined.push({ ...bar, isThin: isThin(bar) });
  }
  return joined;
}

function join(last, bar) {
  last.end = bar.end;
  last.runs += bar.runs;
  last.bad += bar.bad;
}

/** Round local times from `start` to `end`, at most `limit` of them, and the step between two. */
export function ticks(start, end, limit) {
  const step = STEPS.find((size) => (end - start) / size <= limit) ?? STEPS.at(-1);
  const zone = new Date(start).getTimezoneOffset() * MINUTE;
  const first = Math.ceil((start - zone) / step) * step + zone;
  const number = Math.max(0, Math.ceil((end - first) / step));
  return { step, times: Array.from({ length: number }, (_, index) => first + index * step) };
}
