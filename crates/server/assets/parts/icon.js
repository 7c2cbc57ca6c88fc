// Small line icons on a 16 × 16 grid. They are decorative: a text or a label next to them has the same meaning.

import { svg } from '../dom.js';

const SHAPES = {
  running: 'M5 3.5v9l7-4.5z',
  stopped: 'M5.5 3.5v9M10.5 3.5v9',
  completed: 'M3 8.5l3.5 3.5L13 4.5',
  finished: 'M3 8.5l3.5 3.5L13 4.5',
  aborted: 'M4 4l8 8M12 4l-8 8',
  none: 'M4 8h8',
  broken: 'M8 2.5L14.5 13.5h-13zM8 6.5v3M8 11.5v.1',
  dot: 'M8 7.5a.5.5 0 100 1 .5.5 0 000-1z',
  user: 'M8 8.2a2.7 2.7 0 100-5.4 2.7 2.7 0 000 5.4z' +
    'M2.8 13.8c.5-2.5 2.5-3.8 5.2-3.8s4.7 1.3 5.2 3.8',
  retry: 'M12.5 5.5A5 5 0 103 9M12.8 2.5v3.2H9.6',
  clock: 'M8 14A6 6 0 108 2a6 6 0 000 12zM8 4.8V8l2.2 1.5',
  down: 'M8 3v10M4 9l4 4 4-4',
  up: 'M8 13V3M4 7l4-4 4 4',
  back: 'M13 8H3M7 4L3 8l4 4',
  search: 'M7 12A5 5 0 107 2a5 5 0 000 10zM10.7 10.7L14 14',
  close: 'M4 4l8 8M12 4l-8 8',
  more: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
  light: 'M8 11a3 3 0 100-6 3 3 0 000 6zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7' +
    'M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7',
  dark: 'M13 9.5A5.5 5.5 0 016.5 3a5.5 5.5 0 106.5 6.5z',
  auto: 'M8 14A6 6 0 108 2a6 6 0 000 12zM8 2.5v11M10.5 4v8',
  help: 'M8 14A6 6 0 108 2a6 6 0 000 12z' +
    'M6.2 6.4c.2-1 .9-1.5 1.8-1.5 1.1 0 1.9.7 1.9 1.7 0 1.3-1.9 1.5-1.9 2.7M8 11.3v.1',
  machine: 'M2.5 3h11v7.5h-11zM6 13.5h4M8 10.5v3',
  message: 'M2.5 3.5h11v7.5H7.5L4.5 13.5V11h-2z',
  trash: 'M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5',
  file: 'M4 2.5h5l3 3v8H4zM9 2.5v3h3',
  fold: 'M2.5 8h11M5.5 2.5L8 5l2.5-2.5M5.5 13.5L8 11l2.5 2.5',
};

export function icon(name) {
  const shape = svg('path', { d: SHAPES[name] ?? SHAPES.none });
  return svg('svg', { class: `icon icon-${name}`, viewBox: '0 0 16 16', 'aria-hidden': 'true' }, shape);
}
