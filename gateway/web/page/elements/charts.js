// @ts-check
/**
 * Pictures of counts: bars, columns, a ring, one divided bar and a field of dots, made by DOM calls alone.
 *
 * Each chart takes ready words and links and knows nothing of beliefs. What can be followed is an ordinary list of
 * links that carries label and number as text; the drawn shapes beside it are hidden from screen readers, and a
 * ring's segments repeat the list's links for the pointer only. Colours come from the classes `tone-…`.
 */

import { html, svg } from '../dom.js';

/**
 * One counted part of a whole.
 * @typedef {object} Part
 * @property {string} label    what is drawn beside it
 * @property {string} number   its count as text
 * @property {string} name     what a screen reader says, such as "Preferences: 24 beliefs"
 * @property {number} count    its count
 * @property {string} [note]   a second, smaller label
 * @property {string} [href]   where it leads; without it the part is plain text
 * @property {string} [tone]   the class of its colour
 */

const RING_RADIUS = 42;
const RING_GAP = 1.1;
const COLUMN_ROOM = 84;
const DOTS_MAX = 200;
const DOTS_IN_ROW = 20;

/**
 * A part's words and shapes as a link, or as plain text where it leads nowhere.
 * @param {Part} part @param {string} kind @param {...(Node | string)} children
 */
function linked(part, kind, ...children) {
  const shown = html('span', { class: 'chart-shown', 'aria-hidden': 'true' }, ...children);
  const spoken = html('span', { class: 'visually-hidden' }, part.name);
  const tone = part.tone ?? 'tone-plain';
  if (part.href === undefined) return html('span', { class: `${kind} ${tone} chart-still` }, spoken, shown);
  return html('a', { class: `${kind} ${tone}`, href: part.href }, spoken, shown);
}

/** The largest count of the parts, at least 1. @param {Part[]} parts */
export function highest(parts) {
  return Math.max(1, ...parts.map((part) => part.count));
}

/**
 * A list of rows: label, number and a bar whose length is the part's share of the largest.
 * @param {Part[]} parts
 */
export function bars(parts) {
  const most = highest(parts);
  const rows = parts.map((part) => {
    const track = svg('svg', { class: 'bar-track', 'aria-hidden': 'true' });
    track.append(svg('rect', { class: 'bar-rest', width: '100%', height: '100%', rx: 5 }));
    if (part.count > 0) {
      const share = Math.max(1.5, (100 * part.count) / most);
      track.append(svg('rect', { class: 'bar-filled', width: `${share}%`, height: '100%', rx: 5 }));
    }
    return html('li', {}, linked(part, 'bar', label(part), number(part), track));
  });
  return html('ul', { class: 'bars', role: 'list' }, ...rows);
}

/** @param {Part} part */
function label(part) {
  const words = html('span', { class: 'chart-label' }, part.label);
  if (part.note !== undefined) words.append(' ', html('span', { class: 'chart-note' }, part.note));
  return words;
}

/** @param {Part} part */
function number(part) {
  return html('span', { class: 'chart-number' }, part.number);
}

/**
 * A row of columns in order, each with its number on top. Rows that are to be compared share their largest count.
 * @param {Part[]} parts
 * @param {number} [most] the count that a column of full height stands for
 */
export function columns(parts, most = highest(parts)) {
  const items = parts.map((part) => {
    const height = part.count > 0 ? Math.max(1.5, (COLUMN_ROOM * part.count) / most) : 0;
    const shaft = svg('svg', { class: 'column-shaft', 'aria-hidden': 'true' });
    if (height > 0) {
      const shape = { x: '10%', y: `${100 - height}%`, width: '80%', height: `${height}%`, rx: 3 };
      shaft.append(svg('rect', { class: 'column-filled', ...shape }));
    }
    const top = { x: '50%', y: `${100 - height}%`, dy: -6, 'text-anchor': 'middle' };
    shaft.append(svg('text', { class: 'column-number', ...top }, part.number));
    return html('li', {}, linked(part, 'column', shaft, label(part)));
  });
  return html('ol', { class: 'columns', role: 'list' }, ...items);
}

/**
 * A ring of segments, with a list of the same parts beside it.
 * @param {Part[]} parts
 * @param {Node} middle what stands in the middle of the ring
 */
export function ring(parts, middle) {
  const total = parts.reduce((sum, part) => sum + part.count, 0);
  const circle = { cx: 50, cy: 50, r: RING_RADIUS, pathLength: 100 };
  const drawing = svg('svg', { class: 'ring-drawing', viewBox: '0 0 100 100', 'aria-hidden': 'true' });
  drawing.append(svg('circle', { ...circle, class: 'ring-rest' }));
  let start = 0;
  for (const part of parts) {
    const share = total === 0 ? 0 : (100 * part.count) / total;
    if (share > 0) drawing.append(segment(part, circle, start, share));
    start += share;
  }
  const picture = html('div', { class: 'ring-picture' }, drawing, html('div', { class: 'ring-middle' }, middle));
  const list = legend(parts);
  lightTogether(drawing, list);
  return html('div', { class: 'ring' }, picture, list);
}

/** @param {Part} part @param {Record<string, number>} circle @param {number} start @param {number} share */
function segment(part, circle, start, share) {
  const length = share >= 100 ? 100 : Math.max(0.6, share - RING_GAP);
  const arc = svg('circle', {
    ...circle,
    class: 'ring-segment',
    'stroke-dasharray': `${length} ${100 - length}`,
    'stroke-dashoffset': -(start + (share >= 100 ? 0 : RING_GAP / 2)),
    transform: 'rotate(-90 50 50)',
  });
  return svg('a', { class: part.tone, href: part.href, tabindex: -1 }, arc);
}

/** @param {Part[]} parts */
function legend(parts) {
  const rows = parts.map((part) => {
    const swatch = svg('svg', { class: 'swatch', viewBox: '0 0 12 12', 'aria-hidden': 'true' });
    swatch.append(svg('circle', { cx: 6, cy: 6, r: 6 }));
    return html('li', {}, linked(part, 'legend-row', swatch, label(part), number(part)));
  });
  return html('ul', { class: 'legend', role: 'list' }, ...rows);
}

/**
 * What is pointed at or focused in one of two pictures of the same parts is lit in both.
 * @param {Element} drawing @param {Element} list
 */
function lightTogether(drawing, list) {
  const links = [...drawing.querySelectorAll('a'), ...list.querySelectorAll('a')];
  for (const link of links) {
    const twins = links.filter((other) => other.getAttribute('href') === link.getAttribute('href'));
    const light = (/** @type {boolean} */ on) => twins.forEach((twin) => twin.classList.toggle('is-lit', on));
    for (const event of ['pointerenter', 'focus']) link.addEventListener(event, () => light(true));
    for (const event of ['pointerleave', 'blur']) link.addEventListener(event, () => light(false));
  }
}

/**
 * One bar divided into the parts, with a list of the same parts under it.
 * @param {Part[]} parts
 */
export function divided(parts) {
  const total = parts.reduce((sum, part) => sum + part.count, 0);
  const bar = svg('svg', { class: 'divided-bar', 'aria-hidden': 'true' });
  bar.append(svg('rect', { class: 'bar-rest', width: '100%', height: '100%', rx: 6 }));
  let start = 0;
  for (const part of parts.filter((one) => one.count > 0)) {
    const share = (100 * part.count) / total;
    const slice = svg('rect', { class: 'divided-slice', x: `${start}%`, width: `${share}%`, height: '100%' });
    bar.append(svg('a', { class: part.tone, href: part.href, tabindex: -1 }, slice));
    start += share;
  }
  const list = legend(parts);
  lightTogether(bar, list);
  return html('div', { class: 'divided' }, bar, list);
}

/**
 * A field of dots, the first of them lit: one for each thing, or for several where there are too many to draw.
 * @param {number} total
 * @param {number} lit
 * @returns {{drawing: SVGElement, worth: number}} the drawing, and how many things one dot stands for
 */
export function dots(total, lit) {
  const worth = Math.max(1, Math.ceil(total / DOTS_MAX));
  const count = Math.ceil(total / worth);
  const bright = Math.ceil(lit / worth);
  const rows = Math.max(1, Math.ceil(count / DOTS_IN_ROW));
  const drawing = svg('svg', { class: 'dots', viewBox: `0 0 ${DOTS_IN_ROW * 10} ${rows * 10}`, 'aria-hidden': 'true' });
  for (let index = 0; index < count; index += 1) {
    const place = { cx: (index % DOTS_IN_ROW) * 10 + 5, cy: Math.floor(index / DOTS_IN_ROW) * 10 + 5 };
    const kind = index < bright ? { class: 'dot is-lit', r: 4 } : { class: 'dot', r: 2.6 };
    drawing.append(svg('circle', { ...place, ...kind }));
  }
  return { drawing, worth };
}
