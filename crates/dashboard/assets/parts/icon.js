// Small line icons on a 16 × 16 grid. They decorate: the words beside them, or a label, say the same.

import { svg } from '../dom.js';

const SHAPES = {
  running: 'M5 3.500v9l7-4.500z',
  stopped: 'M5.500 3.500v9M10.500 3.500v9',
  completed: 'M3 8.500l3.500 3.500L13 4.500',
  aborted: 'M4 4l8 8M12 4l-8 8',
  none: 'M4 8h8',
  broken: 'M8 2.500L14.500 13.500h-13zM8 6.500v3M8 11.500v.1',
  person: 'M8 8.200a2.700 2.700 0 100-5.400 2.700 2.700 0 000 5.400zM2.800 13.800c.5-2.500 2.500-3.800 5.200-3.800s4.700 1.300 5.200 3.800',
  retry: 'M12.500 5.500A5 5 0 103 9M12.800 2.500v3.200H9.600',
  clock: 'M8 14A6 6 0 108 2a6 6 0 000 12zM8 4.800V8l2.200 1.500',
  down: 'M8 3v10M4 9l4 4 4-4',
  up: 'M8 13V3M4 7l4-4 4 4',
  back: 'M13 8H3M7 4L3 8l4 4',
  search: 'M7 12A5 5 0 107 2a5 5 0 000 10zM10.700 10.700L14 14',
  close: 'M4 4l8 8M12 4l-8 8',
  more: 'M3.500 8h.1M8 8h.1M12.500 8h.1',
  light: 'M8 11a3 3 0 100-6 3 3 0 000 6zM8 1.500v1M8 13.500v1M1.500 8h1M13.500 8h1M3.400 3.400l.7.7M11.900 11.900l.7.7M3.400 12.600l.7-.7M11.900 4.100l.7-.7',
  dark: 'M13 9.500A5.500 5.500 0 016.500 3a5.500 5.500 0 106.500 6.500z',
  auto: 'M8 14A6 6 0 108 2a6 6 0 000 12zM8 2.500v11M10.500 4v8',
  help: 'M8 14A6 6 0 108 2a6 6 0 000 12zM6.200 6.400c.2-1 .9-1.500 1.800-1.500 1.100 0 1.900.7 1.900 1.700 0 1.300-1.900 1.500-1.900 2.700M8 11.300v.1',
  trash: 'M3 4.500h10M6.500 4.500V3h3v1.500M4.500 4.500l.6 8.500h5.800l.6-8.500',
  file: 'M4 2.500h5l3 3v8H4zM9 2.500v3h3',
  fold: 'M2.500 8h11M5.500 2.500L8 5l2.500-2.500M5.500 13.500L8 11l2.500 2.500',
};

export function icon(name) {
  const shape = svg('path', { d: SHAPES[name] ?? SHAPES.none });
  return svg('svg', { class: `icon icon-${name}`, viewBox: '0 0 16 16', 'aria-hidden': 'true' }, shape);
}
