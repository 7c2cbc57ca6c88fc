// Small SVG charts. Each value is written beside its mark, and a table has the same data.

import { h, svg } from '../dom.js';
import { t } from '../text.js';

/** A chart with its title and, folded away, its table. `head`: names of columns; `rows`: lists of texts. */
export function figure(name, title, drawn, head, rows) {
  const id = `chart-${name}`;
  return h('figure', { class: 'chart', key: name, 'aria-labelledby': id, 'data-test': id },
    h('figcaption', { id }, title),
    drawn,
    h('details', { class: 'chart-table', key: 'table' }, h('summary', {}, t('as_table')), table(title, head, rows)));
}

/** The first column names the row; the others are numbers. */
export function table(title, head, rows, test) {
  const names = head.map((name, index) => h('th', { scope: 'col', class: index > 0 && 'number' }, name));
  // Wide tables scroll, also by keyboard.
  return h('div', { class: 'table-frame', tabindex: '0', role: 'group', 'aria-label': title },
    h('table', { 'data-test': test }, h('thead', {}, h('tr', {}, names)), h('tbody', {}, rows.map(tableRow))));
}

function tableRow([name, ...cells]) {
  return h('tr', {}, h('th', { scope: 'row' }, name), cells.map((cell) => h('td', { class: 'number' }, cell)));
}

// The width of all drawings, which are scaled to fit.
const WIDTH = 480;

function drawing(title, height, content) {
  const props = { class: 'chart-drawing', viewBox: `0 0 ${WIDTH} ${height}`, role: 'img', 'aria-label': title };
  return svg('svg', props, content);
}

function label(text, x, y, className, anchor) {
  return svg('text', { class: className, x, y, 'text-anchor': anchor }, text);
}

// Horizontal bars.

const BAR_HEIGHT = 28;
const NAME_WIDTH = 116;
const VALUE_WIDTH = 112;

/** `list`: `{label, value, text, color}`. */
export function bars(title, list) {
  const most = Math.max(...list.map((bar) => bar.value)) || 1;
  const drawn = list.map((bar, index) => horizontalBar(bar, index * BAR_HEIGHT, bar.value / most));
  return drawing(title, list.length * BAR_HEIGHT, drawn);
}

function horizontalBar({ label: name, text, color = 'accent' }, top, share) {
  const width = Math.max(2, share * (WIDTH - NAME_WIDTH - VALUE_WIDTH));
  return svg('g', { 'data-color': color, transform: `translate(0 ${top})` },
    label(name, NAME_WIDTH - 10, 19, 'chart-name', 'end'),
    svg('rect', { class: 'chart-bar', x: NAME_WIDTH, y: 6, width, height: BAR_HEIGHT - 12, rx: 3 }),
    label(text, NAME_WIDTH + width + 8, 19, 'chart-value'));
}

// Charts by day: names on the horizontal axis, numbers on the vertical one.

const HEIGHT = 200;
const BASELINE = 172;
const TOP = 16;
const AXIS_WIDTH = 58;
const MIN_NAME_WIDTH = 52;

const slotOf = (names) => (WIDTH - AXIS_WIDTH) / Math.max(1, names.length);

function byDay(title, names, most, format, content) {
  const every = Math.max(1, Math.ceil(MIN_NAME_WIDTH / slotOf(names)));
  const middle = (index) => AXIS_WIDTH + (index + 0.5) * slotOf(names);
  const days = names.map((name, index) =>
    index % every === 0 && label(name, middle(index), BASELINE + 18, 'chart-axis', 'middle'));
  return drawing(title, HEIGHT, [[0, 0.5, 1].map((share) => gridLine(share, format(most * share))), content, days]);
}

function gridLine(share, text) {
  const y = BASELINE - share * (BASELINE - TOP);
  return svg('g', {},
    svg('line', { class: 'chart-grid', x1: AXIS_WIDTH, x2: WIDTH, y1: y, y2: y }),
    label(text, AXIS_WIDTH - 8, y + 4, 'chart-axis', 'end'));
}

/** Stacked vertical bars. `series`: `{name, values, hatched}`, drawn from the bottom up. */
export function columns(title, names, series, format) {
  const totals = names.map((_, index) => series.reduce((total, { values }) => total + values[index], 0));
  const most = Math.max(...totals, 0) || 1;
  const stacks = names.map((name, index) => stack(name, index, slotOf(names), series, most, format));
  return byDay(title, names, most, format, [hatch(), stacks]);
}

function stack(name, index, slot, series, most, format) {
  const width = Math.max(1, Math.min(28, slot * 0.72));
  const x = AXIS_WIDTH + index * slot + (slot - width) / 2;
  let y = BASELINE;
  return series.filter(({ values }) => values[index] > 0).map(({ name: part, values, hatched }) => {
    const height = (values[index] / most) * (BASELINE - TOP);
    y -= height;
    const look = hatched ? { class: 'chart-bar bad', fill: 'url(#hatch)' } : { class: 'chart-bar' };
    const title = svg('title', {}, `${name} · ${part} ${format(values[index])}`);
    return svg('rect', { ...look, x, y, width, height }, title);
  });
}

/** Hatching distinguishes the parts without colour. */
function hatch() {
  const props = { id: 'hatch', width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' };
  return svg('defs', {}, svg('pattern', props,
    svg('rect', { class: 'hatch-ground', width: 5, height: 5 }),
    svg('line', { class: 'hatch-line', x1: 0, y1: 0, x2: 0, y2: 5 })));
}

/** A line chart of shares; days without a value are gaps. */
export function shares(title, names, values, format) {
  const top = (value) => BASELINE - value * (BASELINE - TOP);
  const position = (value, index) => [AXIS_WIDTH + (index + 0.5) * slotOf(names), top(value)];
  const points = values.map((value, index) => (typeof value === 'number' ? position(value, index) : null));
  const dots = points.map((point, index) => point && dot(point, `${names[index]} · ${format(values[index])}`));
  return byDay(title, names, 1, format, [svg('path', { class: 'chart-line', d: lineThrough(points) }), dots]);
}

function dot([cx, cy], title) {
  return svg('circle', { class: 'chart-dot', cx, cy, r: 3 }, svg('title', {}, title));
}

function lineThrough(points) {
  return points.map((point, index) => (point ? `${points[index - 1] ? 'L' : 'M'}${point.join(' ')}` : '')).join('');
}
