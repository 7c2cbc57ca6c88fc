// Small charts, drawn by hand. Each value is written beside its mark, and a table says the same.

import { h, svg } from '../dom.js';
import { t } from '../text.js';

/** A chart with its title and, folded away, its table. `columns`: names; `rows`: lists of texts. */
export function figure(name, title, drawing, columns, rows) {
  const id = `chart-${name}`;
  return h('figure', { class: 'chart', key: name, 'aria-labelledby': id, 'data-test': id },
    h('figcaption', { id }, title), drawing,
    h('details', { class: 'chart-table', key: 'table' }, h('summary', {}, t('as_table')), table(title, columns, rows)));
}

/** The first column names the row; the others are numbers. */
export function table(title, columns, rows, test) {
  const head = columns.map((name, index) => h('th', { scope: 'col', class: index ? 'number' : null }, name));
  const body = rows.map((cells) => h('tr', { key: cells.key ?? String(cells[0]) },
    cells.map((cell, index) => (index ? h('td', { class: 'number' }, cell) : h('th', { scope: 'row' }, cell)))));
  return h('div', { class: 'table-frame', tabindex: '0', role: 'group', 'aria-label': title },
    h('table', { 'data-test': test }, h('thead', {}, h('tr', {}, head)), h('tbody', {}, body)));
}

const LINE = 28;
const WIDTH = 480;

/** Lying bars. `bars`: `{label, value, text, color}`. */
export function bars(title, list) {
  const most = Math.max(...list.map((bar) => bar.value), 0) || 1;
  const rows = list.map((bar, index) => barRow(bar, index * LINE, bar.value / most));
  return drawing(title, WIDTH, Math.max(1, list.length) * LINE, rows);
}

const NAME_WIDTH = 132;
const VALUE_WIDTH = 84;

function barRow({ label, text, color }, top, share) {
  const width = Math.max(share > 0 ? 2 : 0, share * (WIDTH - NAME_WIDTH - VALUE_WIDTH));
  return svg('g', { 'data-color': color ?? 'accent', transform: `translate(0 ${top})` },
    svg('text', { class: 'chart-name', x: NAME_WIDTH - 10, y: 19, 'text-anchor': 'end' }, label),
    svg('rect', { class: 'chart-bar', x: NAME_WIDTH, y: 6, width, height: LINE - 12, rx: 3 }),
    svg('text', { class: 'chart-value', x: NAME_WIDTH + width + 8, y: 19 }, text));
}

const TALL = 168;
const FLOOR = 140;
const TOP = 14;

/** Standing bars by day, stacked. `series`: `{name, values, hatched}`, drawn from the floor up. */
export function columns(title, labels, series, format = String) {
  const totals = labels.map((_, index) => sum(series.map((one) => one.values[index])));
  const most = Math.max(...totals, 0) || 1;
  const slot = (WIDTH - 40) / Math.max(1, labels.length);
  const marks = labels.map((label, index) => column({ label, index, slot, series, most, total: totals[index], format }));
  return drawing(title, WIDTH, TALL, [hatch(), grid(most, format), marks, dayNames(labels, slot)]);
}

/** Hatching tells one part from another without colour. */
function hatch() {
  return svg('defs', {}, svg('pattern', { id: 'hatch', width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
    svg('rect', { class: 'hatch-ground', width: 5, height: 5 }), svg('line', { class: 'hatch-line', x1: 0, y1: 0, x2: 0, y2: 5 })));
}

function column({ label, index, slot, series, most, total, format }) {
  const width = Math.max(1, Math.min(28, slot * 0.72));
  const x = 40 + index * slot + (slot - width) / 2;
  let y = FLOOR;
  const parts = series.map(({ name, values, hatched }) => {
    const height = (values[index] / most) * (FLOOR - TOP);
    y -= height;
    const look = hatched ? { class: 'chart-bar bad', fill: 'url(#hatch)' } : { class: 'chart-bar' };
    return height > 0 && svg('rect', { ...look, x, y, width, height }, svg('title', {}, `${label} · ${name} ${format(values[index])}`));
  });
  const isRoomy = slot > 30 && total > 0;
  return svg('g', {}, parts, isRoomy && svg('text', { class: 'chart-value small', x: x + width / 2, y: y - 4, 'text-anchor': 'middle' }, format(total)));
}

function grid(most, format) {
  return [0, 0.5, 1].map((share) => {
    const y = FLOOR - share * (FLOOR - TOP);
    return svg('g', {}, svg('line', { class: 'chart-grid', x1: 40, x2: WIDTH, y1: y, y2: y }),
      svg('text', { class: 'chart-axis', x: 34, y: y + 4, 'text-anchor': 'end' }, format(most * share)));
  });
}

/** As many names as fit. */
function dayNames(labels, slot) {
  const every = Math.max(1, Math.ceil(52 / slot));
  return labels.map((label, index) => index % every === 0
    && svg('text', { class: 'chart-axis', x: 40 + (index + 0.5) * slot, y: FLOOR + 18, 'text-anchor': 'middle' }, label));
}

/** A line of shares by day; days without a value are gaps. */
export function shares(title, labels, values, format) {
  const slot = (WIDTH - 40) / Math.max(1, labels.length);
  const place = (value, index) => [40 + (index + 0.5) * slot, FLOOR - value * (FLOOR - TOP)];
  const points = values.map((value, index) => (value === null || value === undefined ? null : place(value, index)));
  const dots = points.map((point, index) => point && svg('circle', { class: 'chart-dot', cx: point[0], cy: point[1], r: 3 },
    svg('title', {}, `${labels[index]} · ${format(values[index])}`)));
  return drawing(title, WIDTH, TALL, [grid(1, format), svg('path', { class: 'chart-line', d: lineOf(points) }), dots, dayNames(labels, slot)]);
}

function lineOf(points) {
  return points.map((point, index) => (point ? `${points[index - 1] ? 'L' : 'M'}${point.join(' ')}` : '')).join('');
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

function drawing(title, width, height, content) {
  return svg('svg', { class: 'chart-drawing', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title }, content);
}
