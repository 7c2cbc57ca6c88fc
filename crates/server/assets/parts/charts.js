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

function label(text, x, y, looks, anchor) {
  return svg('text', { class: looks, x, y, 'text-anchor': anchor }, text);
}

// Horizontal bars.

const LINE = 28;
const NAME_WIDTH = 116;
const VALUE_WIDTH = 112;

/** `list`: `{label, value, text, color}`. */
export function bars(title, list) {
  const most = Math.max(...list.map((bar) => bar.value)) || 1;
  return drawing(title, list.length * LINE, list.map((bar, index) => lyingBar(bar, index * LINE, bar.value / most)));
}

function lyingBar({ label: name, text, color = 'accent' }, top, share) {
  const width = Math.max(2, share * (WIDTH - NAME_WIDTH - VALUE_WIDTH));
  return svg('g', { 'data-color': color, transform: `translate(0 ${top})` },
    label(name, NAME_WIDTH - 10, 19, 'chart-name', 'end'),
    svg('rect', { class: 'chart-bar', x: NAME_WIDTH, y: 6, width, height: LINE - 12, rx: 3 }),
    label(text, NAME_WIDTH + width + 8, 19, 'chart-value'));
}

// Charts by day: names on the horizontal axis, numbers on the vertical one.

const TALL = 200;
const FLOOR = 172;
const TOP = 16;
const SIDE = 58;
const NAME_ROOM = 52;

const slotOf = (names) => (WIDTH - SIDE) / Math.max(1, names.length);

function byDay(title, names, most, format, content) {
  const every = Math.max(1, Math.ceil(NAME_ROOM / slotOf(names)));
  const middle = (index) => SIDE + (index + 0.5) * slotOf(names);
  const days = names.map((name, index) =>
    index % every === 0 && label(name, middle(index), FLOOR + 18, 'chart-axis', 'middle'));
  return drawing(title, TALL, [[0, 0.5, 1].map((share) => gridLine(share, format(most * share))), content, days]);
}

function gridLine(share, text) {
  const y = FLOOR - share * (FLOOR - TOP);
  return svg('g', {},
    svg('line', { class: 'chart-grid', x1: SIDE, x2: WIDTH, y1: y, y2: y }),
    label(text, SIDE - 8, y + 4, 'chart-axis', 'end'));
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
  const x = SIDE + index * slot + (slot - width) / 2;
  let y = FLOOR;
  return series.filter(({ values }) => values[index] > 0).map(({ name: part, values, hatched }) => {
    const height = (values[index] / most) * (FLOOR - TOP);
    y -= height;
    const looks = hatched ? { class: 'chart-bar bad', fill: 'url(#hatch)' } : { class: 'chart-bar' };
    const title = svg('title', {}, `${name} · ${part} ${format(values[index])}`);
    return svg('rect', { ...looks, x, y, width, height }, title);
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
  const place = (value, index) => [SIDE + (index + 0.5) * slotOf(names), FLOOR - value * (FLOOR - TOP)];
  const points = values.map((value, index) => (typeof value === 'number' ? place(value, index) : null));
  const dots = points.map((point, index) => point && dot(point, `${names[index]} · ${format(values[index])}`));
  return byDay(title, names, 1, format, [svg('path', { class: 'chart-line', d: lineThrough(points) }), dots]);
}

function dot([cx, cy], title) {
  return svg('circle', { class: 'chart-dot', cx, cy, r: 3 }, svg('title', {}, title));
}

function lineThrough(points) {
  return points.map((point, index) => (point ? `${points[index - 1] ? 'L' : 'M'}${point.join(' ')}` : '')).join('');
}
