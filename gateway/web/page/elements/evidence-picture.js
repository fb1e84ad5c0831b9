// @ts-check
/**
 * <evidence-picture>: a graph of evidence as cards in columns, each a link, and lines from what was derived to what it
 * rests on. Where the columns don't fit beside each other they stand one below the other, with the lines at their side.
 * The columns are lists in the order of reading; the lines are measured from where the cards lie, so they follow any
 * width and either direction of writing.
 */
import { html, svg } from '../dom.js';
import { dependents } from '../evidence.js';
import { icon } from '../icons.js';
import { text } from '../texts.js';
import { kindOf } from './evidence-list.js';
import { sensitivityBadge } from './memory-row.js';

/** @typedef {import('../evidence.js').Evidence} Evidence */
/** @typedef {import('../evidence.js').EvidenceNode} EvidenceNode */

/** How much of a statement a card shows. */
const LETTERS_MAX = 90;
/** How wide a column is at least, and what lies between two of them: as the style has it. */
const COLUMN_PIXELS = 140;
const BETWEEN_PIXELS = 40;
/** How far lines within one column reach beside it. */
const ASIDE_PIXELS = 24;
/** How wide a lane is in which lines run where the columns stand one below the other, as the style has it. */
const LANE_PIXELS = 10;
const TURN_PIXELS = 9;
const DOT_PIXELS = 3.5;

class EvidencePicture extends HTMLElement {
  /** @type {Evidence | null} */
  evidence = null;
  /** @type {Map<string, HTMLElement>} */
  cards = new Map();
  lines = svg('svg', { class: 'evidence-lines', 'aria-hidden': 'true', focusable: 'false' });
  watch = new ResizeObserver(() => this.#drawLines());

  connectedCallback() {
    if (this.plane) this.watch.observe(this.plane);
  }

  disconnectedCallback() {
    this.watch.disconnect();
  }

  /** @param {Evidence} evidence @param {{linkTo: (id: string) => string}} links */
  show(evidence, { linkTo }) {
    this.evidence = evidence;
    this.cards.clear();
    this.dataset.testid = 'evidence.picture';
    this.columns = html(
      'ol',
      { class: 'evidence-columns', 'aria-label': text('evidence.title') },
      evidence.columns.map((nodes, depth) =>
        html(
          'li',
          { class: 'evidence-column', testid: `evidence.column.${depth}` },
          html('p', { class: 'evidence-depth' }, text(`evidence.column.${Math.min(depth, 2)}`)),
          html('ul', {}, nodes.map((node) => html('li', {}, this.#card(node, linkTo)))),
        ),
      ),
    );
    this.style.setProperty('--columns', String(evidence.columns.length));
    const plane = html('div', { class: 'evidence-plane' }, this.lines, this.columns);
    this.plane = plane;
    plane.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => this.#move(event));
    for (const [name, on] of [['focusin', true], ['focusout', false], ['pointerover', true], ['pointerout', false]]) {
      plane.addEventListener(/** @type {string} */ (name), (/** @type {Event} */ event) => this.#light(event, Boolean(on)));
    }
    this.replaceChildren(plane);
    this.watch.observe(plane);
    this.#drawLines();
  }

  /** @param {EvidenceNode} node @param {(id: string) => string} linkTo */
  #card({ item, depth, hidden }, linkTo) {
    const kind = kindOf(item);
    const card = html(
      'a',
      {
        class: `evidence-card ${kind.toLowerCase()}`,
        href: linkTo(item.id),
        testid: `evidence.node.${item.id}`,
        'data-id': item.id,
        'aria-current': depth === 0 ? 'page' : null,
      },
      html(
        'span',
        { class: 'evidence-head' },
        html('span', { class: 'evidence-kind' }, icon(kind.toLowerCase()), text(`derived.kind.${kind}`)),
        item.sensitivity === 'PUBLIC' ? null : [' ', sensitivityBadge(item.sensitivity)],
      ),
      ' ',
      html('bdi', { class: 'evidence-statement', dir: 'auto' }, shortened(item.statement)),
      hidden > 0 ? html('span', { class: 'evidence-hidden' }, ' ', text('evidence.hidden', { count: hidden })) : null,
      html('span', { class: 'visually-hidden' }, ' ', depth === 0 ? text('evidence.depth_none') : text('evidence.depth', { count: depth })),
    );
    this.cards.set(item.id, card);
    return card;
  }

  /** Arrows lead along the lines, and up and down within a column. @param {KeyboardEvent} event */
  #move(event) {
    const { id } = /** @type {HTMLElement} */ (event.target).dataset;
    const { evidence } = this;
    if (!evidence || !id || !event.key.startsWith('Arrow') || event.ctrlKey || event.metaKey || event.altKey) return;
    // They mean nothing else here, also where they lead nowhere.
    event.preventDefault();
    const node = /** @type {EvidenceNode} */ (evidence.nodes.get(id));
    const column = evidence.columns[node.depth];
    const place = column.indexOf(node);
    const deeper = getComputedStyle(this).direction === 'rtl' ? 'ArrowLeft' : 'ArrowRight';
    const shallower = deeper === 'ArrowLeft' ? 'ArrowRight' : 'ArrowLeft';
    const next = {
      ArrowDown: () => column[place + 1]?.item.id,
      ArrowUp: () => column[place - 1]?.item.id,
      [deeper]: () => node.targets[0],
      [shallower]: () => dependents(evidence, id)[0],
    }[event.key]?.();
    if (next) this.cards.get(next)?.focus();
  }

  /** Makes the lines of a card stand out. @param {Event} event @param {boolean} on */
  #light(event, on) {
    const card = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (event.target).closest('.evidence-card'));
    for (const line of card ? this.lines.querySelectorAll(`[data-from="${card.dataset.id}"], [data-to="${card.dataset.id}"]`) : []) {
      line.classList.toggle('is-lit', on);
    }
  }

  /** Columns where they fit, else one below the other. */
  #drawLines() {
    const { evidence, columns } = this;
    if (!evidence || !columns) return;
    const count = evidence.columns.length;
    const narrow = columns.clientWidth < count * COLUMN_PIXELS + (count - 1) * BETWEEN_PIXELS;
    const lanes = lanesOf(evidence, [...this.cards.keys()]);
    this.classList.toggle('is-narrow', narrow);
    this.style.setProperty('--lanes', String(Math.max(0, ...lanes.values()) + 1));
    const origin = columns.getBoundingClientRect();
    const mirrored = getComputedStyle(this).direction === 'rtl';
    const boxes = new Map([...this.cards].map(([id, card]) => [id, boxOf(card.getBoundingClientRect(), origin, mirrored)]));
    /** @param {string} from @param {string} to */
    const line = (from, to) => {
      const [source, target] = /** @type {Box[]} */ ([boxes.get(from), boxes.get(to)]);
      return drawnLine(from, to, narrow ? branch(source, target, lanes.get(from) ?? 0) : curve(source, target));
    };
    this.lines.classList.toggle('is-mirrored', mirrored);
    this.lines.replaceChildren(
      ...[...evidence.nodes.values()].flatMap(({ item, targets }) => targets.map((target) => line(item.id, target))),
    );
  }
}

/** @typedef {{start: number, end: number, top: number, height: number}} Box a card, from where writing starts */
/** @typedef {{path: string, x: number, y: number}} Drawn a line, and where its dot lies, just outside the card */

/** @param {DOMRect} rect @param {DOMRect} origin @param {boolean} mirrored @returns {Box} */
function boxOf({ left, right, top, height }, origin, mirrored) {
  const [start, end] = mirrored ? [origin.right - right, origin.right - left] : [left - origin.left, right - origin.left];
  return { start, end, top: top - origin.top, height };
}

/** From the end of one card to the start of another, or beside the two where they stand in one column. @param {Box} source @param {Box} target @returns {Drawn} */
function curve(source, target) {
  const [from, y] = [source.top + source.height / 2, target.top + target.height / 2];
  const aside = source.start === target.start;
  const x = aside ? target.end : target.start;
  const bend = aside ? source.end + ASIDE_PIXELS : (source.end + x) / 2;
  return { path: `M${source.end} ${from}C${bend} ${from} ${bend} ${y} ${x} ${y}`, x: x + (aside ? DOT_PIXELS : -DOT_PIXELS), y };
}

/** Beside the cards, in the lane of the one that it starts from. @param {Box} source @param {Box} target @param {number} lane @returns {Drawn} */
function branch(source, target, lane) {
  const [from, y] = [source.top + source.height * 0.7, target.top + target.height * 0.35];
  const x = target.start;
  const bend = x - (lane + 1.5) * LANE_PIXELS;
  const turn = Math.min(Math.abs(y - from) / 2, x - bend, TURN_PIXELS) * Math.sign(y - from);
  const out = Math.abs(turn);
  return {
    path: `M${source.start} ${from}H${bend + out}q${-out} 0 ${-out} ${turn}V${y - turn}q0 ${turn} ${out} ${turn}H${x}`,
    x: x - DOT_PIXELS,
    y,
  };
}

/**
 * A lane for each card that rests on others, the innermost that is free all the way to the last of them.
 * @param {Evidence} evidence
 * @param {string[]} order the cards from the top
 * @returns {Map<string, number>}
 */
function lanesOf({ nodes }, order) {
  const places = new Map(order.map((id, place) => [id, place]));
  /** @type {Map<string, number>} */
  const lanes = new Map();
  /** @type {[number, number][][]} what is taken of each lane */
  const taken = [];
  for (const id of order) {
    const { targets = [] } = nodes.get(id) ?? {};
    if (targets.length === 0) continue;
    const rows = [id, ...targets].map((each) => places.get(each) ?? 0);
    const [top, bottom] = [Math.min(...rows), Math.max(...rows)];
    let lane = taken.findIndex((ranges) => ranges.every(([first, last]) => last < top || bottom < first));
    if (lane < 0) lane = taken.length;
    (taken[lane] ??= []).push([top, bottom]);
    lanes.set(id, lane);
  }
  return lanes;
}

/** @param {string} from @param {string} to @param {Drawn} drawn */
function drawnLine(from, to, { path, x, y }) {
  return svg(
    'g',
    { class: 'evidence-line', 'data-from': from, 'data-to': to, testid: `evidence.edge.${from}.${to}` },
    svg('path', { d: path }),
    svg('circle', { cx: x, cy: y, r: DOT_PIXELS }),
  );
}

/** The beginning of a statement, up to the end of a word. @param {string} statement */
function shortened(statement) {
  const letters = Array.from(statement);
  if (letters.length <= LETTERS_MAX) return statement;
  return `${letters.slice(0, LETTERS_MAX).join('').replace(/\s+\S*$/u, '')}…`;
}

customElements.define('evidence-picture', EvidencePicture);
