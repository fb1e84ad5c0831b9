// @ts-check
/** The few drawn signs of the page. Each stands beside its words, and says nothing to a screen reader. */
import { svg } from './dom.js';

/** Lines on a field of 24 by 24. @type {Record<string, string>} */
const PATHS = {
  memories: 'M5 6h14M5 12h14M5 18h9',
  review: 'M6 21V4M6 5h11l-2.5 4L17 13H6',
  overview: 'M5 20v-6M12 20V5M19 20v-9',
  settings:
    'M4 7h9M17 7h3M4 17h3M11 17h9M15 4.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4M9 14.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4',
  search: 'M10.5 4.5a6 6 0 1 0 0 12 6 6 0 0 0 0-12M15 15l5 5',
  filter: 'M4 7h16M7 12h10M10 17h4',
  close: 'M6 6l12 12M18 6L6 18',
  back: 'M14 5l-7 7 7 7',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  untrue: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M6.5 6.5l11 11',
  here: 'M12 21s-6.5-6-6.5-11a6.5 6.5 0 0 1 13 0c0 5-6.5 11-6.5 11M12 8a2 2 0 1 0 0 4 2 2 0 0 0 0-4',
  trash: 'M5 7h14M10 7V4.5h4V7M7 7l1 12.5h8L17 7M10.5 11v5M13.5 11v5',
  flag: 'M6 21V4M6 5h11l-2.5 4L17 13H6',
  conflict: 'M4 9h13l-3.5-3.5M20 15H7l3.5 3.5',
  lock: 'M7 11V8a5 5 0 0 1 10 0v3M5.5 11h13v9h-13z',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12M12 9.3a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4',
  alert: 'M12 4L2.8 19.5h18.4zM12 10v4.5M12 17v.2',
  offline: 'M4 4l16 16M8.5 15.5a5 5 0 0 1 5-1.2M5 12a10 10 0 0 1 4-2.4M2 8.5a15 15 0 0 1 4-2.6M12.5 9a10 10 0 0 1 6.5 3M10.5 5a15 15 0 0 1 11.5 3.5M12 19v.2',
  clock: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M12 8v4.5l3 2',
  download: 'M12 4v11M7.5 11l4.5 4.5 4.5-4.5M5 20h14',
  belief: 'M5 5h14v11h-8l-4 3.5V16H5z',
  summary: 'M12 3.5l8 4-8 4-8-4zM4 12l8 4 8-4M4 16.5l8 4 8-4',
  hypothesis: 'M9.5 18h5M10.5 21h3M9.5 15.2a6 6 0 1 1 5 0V18h-5z',
  evidence: 'M5 4.5h5v4H5zM14 9.5h5v4h-5zM14 16h5v4h-5zM7.5 8.5v9.5H14M7.5 11.5H14',
  arrow: 'M10 6l6 6-6 6',
};

/** @param {string} name @returns {SVGElement} */
export function icon(name) {
  return svg(
    'svg',
    { class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true', focusable: 'false' },
    svg('path', { d: PATHS[name] ?? '' }),
  );
}
