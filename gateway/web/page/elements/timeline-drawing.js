// @ts-check
/**
 * The drawn line of a belief's life: a band for how long it holds, a numbered pin for each day, and today.
 */

import { svg } from '../dom.js';

const PIN_RADIUS = 12;
const PIN_SPACING = 28;
const MARGIN = 16;
const STEM = 22;
const LABEL_HEIGHT = 28;

/**
 * What there is to draw.
 * @typedef {object} Life
 * @property {import('./moments.js').Day[]} days
 * @property {import('./moments.js').Validity} validity
 * @property {Date} now
 * @property {string} today    the word beneath the present
 * @property {number} width    in pixels
 * @property {boolean} mirrored whether time runs from right to left
 */

/** @typedef {{x: number, level: number}} Pin */

/**
 * The drawing at its own size in pixels.
 * @param {Life} life
 */
export function drawnLife(life) {
  const place = placing(life);
  const pins = stacked(life.days.map((day) => place(day.at)));
  const axis = Math.max(...pins.map((pin) => pin.level)) * PIN_SPACING + 2 * PIN_RADIUS + STEM;
  const size = { width: life.width, height: axis + LABEL_HEIGHT };
  const drawing = svg('svg', { class: 'timeline-line', ...size, viewBox: `0 0 ${size.width} ${size.height}` });
  drawing.append(...lines(life, place, axis), ...present(life, place(life.now), axis));
  drawing.append(...pins.map((pin, index) => stem(pin, axis, life.days[index].at > life.now)));
  drawing.append(...pins.map((pin, index) => head(pin, axis, index, life.days[index].at > life.now)));
  return drawing;
}

/**
 * Where a time lies on the line. What lies ahead gets a share of the width of its own, a fifth to a half: a belief of
 * yesterday that runs out in ten years would else be drawn as a single point.
 * @param {Life} life
 * @returns {(at: Date) => number}
 */
function placing({ days, validity, now, width, mirrored }) {
  const today = now.getTime();
  const first = Math.min(today, days[0].at.getTime());
  const ahead = Math.max(0, days[days.length - 1].at.getTime() - today);
  const past = Math.max(1, today - first);
  const open = validity.kind === 'open' ? 0.12 : 0;
  const share = ahead > 0 ? Math.min(0.5, Math.max(0.2, ahead / (past + ahead))) : open;
  const room = width - 2 * MARGIN;
  const turn = room * (1 - share);
  return (at) => {
    const since = at.getTime() - today;
    const along = since <= 0 ? (turn * (past + since)) / past : turn + ((room - turn) * since) / Math.max(1, ahead);
    return mirrored ? width - MARGIN - along : MARGIN + along;
  };
}

/**
 * Pins that would touch are stacked: each goes to the lowest level that is free at its place.
 * @param {number[]} places
 * @returns {Pin[]}
 */
function stacked(places) {
  /** @type {Pin[]} */
  const pins = [];
  for (const x of places) {
    const taken = pins.filter((pin) => Math.abs(pin.x - x) < PIN_SPACING).map((pin) => pin.level);
    let level = 0;
    while (taken.includes(level)) level += 1;
    pins.push({ x, level });
  }
  return pins;
}

/**
 * Thin through all of its life, thick where it held, dashed where it is yet to hold.
 * @param {Life} life @param {(at: Date) => number} place @param {number} axis
 */
function lines({ days, validity, now, width, mirrored }, place, axis) {
  const line = (/** @type {string} */ kind, /** @type {number} */ from, /** @type {number} */ to) =>
    svg('line', { class: kind, x1: from, x2: to, y1: axis, y2: axis });
  const today = place(now);
  const whole = line('timeline-quiet', place(days[0].at), today);
  if (validity.kind === 'ended') return [whole, line('timeline-held', place(validity.from), place(validity.to))];
  const far = mirrored ? MARGIN / 2 : width - MARGIN / 2;
  const ahead = line('timeline-ahead', today, validity.kind === 'open' ? far : place(validity.to));
  return [whole, ahead, line('timeline-held', place(validity.from), today)];
}

/** @param {Life} life @param {number} x @param {number} axis */
function present({ today, width }, x, axis) {
  const mark = svg('circle', { class: 'timeline-today', cx: x, cy: axis, r: 6 });
  const room = 32;
  const anchor = x > width - room ? 'end' : x < room ? 'start' : 'middle';
  const at = anchor === 'end' ? x + 8 : anchor === 'start' ? x - 8 : x;
  return [mark, svg('text', { class: 'timeline-word', x: at, y: axis + 24, 'text-anchor': anchor }, today)];
}

/** @param {Pin} pin @param {number} axis @param {boolean} future */
function stem(pin, axis, future) {
  const kind = future ? 'timeline-stem is-future' : 'timeline-stem';
  return svg('line', { class: kind, x1: pin.x, x2: pin.x, y1: height(pin, axis), y2: axis });
}

/** @param {Pin} pin @param {number} axis @param {number} index @param {boolean} future */
function head(pin, axis, index, future) {
  const y = height(pin, axis);
  const group = svg('g', { class: future ? 'timeline-pin is-future' : 'timeline-pin' });
  group.append(svg('circle', { class: 'timeline-point', cx: pin.x, cy: axis, r: 3.5 }));
  group.append(svg('circle', { class: 'timeline-head', cx: pin.x, cy: y, r: PIN_RADIUS }));
  group.append(svg('text', { x: pin.x, y, dy: '0.35em', 'text-anchor': 'middle' }, String(index + 1)));
  return group;
}

/** @param {Pin} pin @param {number} axis */
function height(pin, axis) {
  return axis - STEM - PIN_RADIUS - pin.level * PIN_SPACING;
}
