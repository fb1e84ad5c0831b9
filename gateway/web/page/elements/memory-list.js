// @ts-check
/**
 * A list of any length of which only the rows near the viewport exist. Rows are as high as their words need; each is
 * measured when it is shown, and what stands for the rows that aren't there is the padding of the list.
 */
import { html } from '../dom.js';
import { text } from '../texts.js';
import './memory-row.js';

const MARGIN_PIXELS = 600;
const HEIGHT_GUESS = 116;
/** How many rows before the end more are asked for. */
const AHEAD = 12;

/**
 * Events: `more` when the end comes near; those of the rows bubble through it.
 * @typedef {(memory: any) => import('./memory-row.js').RowContext} ContextOf
 */
class MemoryList extends HTMLElement {
  /** @type {any[]} */
  items = [];
  /** @type {ContextOf | null} */
  contextOf = null;
  /** @type {Map<string, number>} */
  heights = new Map();
  /** @type {Map<string, any>} the rows that exist, by the id of their belief */
  rows = new Map();
  /** @type {any[]} rows that can be used again */
  spare = [];
  /** The id of the belief that the keyboard is at. */
  currentId = '';
  frame = 0;

  connectedCallback() {
    this.list ??= html('ul', { class: 'rows', 'aria-label': text('list.label'), tabindex: '-1' });
    this.replaceChildren(this.list);
    this.measuring = new ResizeObserver((entries) => this.#measured(entries));
    this.onScroll = () => this.#schedule();
    addEventListener('scroll', this.onScroll, { passive: true });
    addEventListener('resize', this.onScroll);
    this.list.addEventListener('focusin', (/** @type {FocusEvent} */ event) => this.#noteFocus(event));
  }

  disconnectedCallback() {
    this.measuring?.disconnect();
    if (this.onScroll) {
      removeEventListener('scroll', this.onScroll);
      removeEventListener('resize', this.onScroll);
    }
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.rows.clear();
    this.list?.replaceChildren();
  }

  /** @param {any[]} items @param {ContextOf} contextOf what else each row shows */
  show(items, contextOf) {
    this.items = items;
    this.contextOf = contextOf;
    if (this.list) this.list.setAttribute('aria-label', text('list.label'));
    this.layout();
  }

  /** The belief that the keyboard is at, if it is still listed. */
  get current() {
    return this.items.find((item) => item.id === this.currentId) ?? null;
  }

  /** Moves the keyboard by so many rows. @param {number} by */
  step(by) {
    if (this.items.length === 0) return;
    const now = this.items.findIndex((item) => item.id === this.currentId);
    const index = now < 0 ? (by > 0 ? 0 : this.items.length - 1) : now + by;
    this.focusIndex(Math.min(Math.max(index, 0), this.items.length - 1));
  }

  /** The place of a belief in the list, or -1. @param {string} id */
  indexOf(id) {
    return this.items.findIndex((item) => item.id === id);
  }

  /** Brings a row into sight and the focus to it. @param {number} index */
  focusIndex(index) {
    const item = this.items[index];
    if (!item) return;
    this.currentId = item.id;
    if (!this.rows.has(item.id)) {
      const top = this.#listTop() + scrollY + this.#offsetOf(index);
      scrollTo({ top: Math.max(top - innerHeight / 3, 0), behavior: 'instant' });
      this.layout();
    }
    const row = this.rows.get(item.id);
    row?.scrollIntoView({ block: 'nearest', behavior: 'instant' });
    row?.firstElementChild.focusLink();
  }

  /** Puts exactly the rows near the viewport into the document. */
  layout() {
    if (!this.list || !this.contextOf) return;
    const { first, last, before, after } = this.#range();
    const wanted = new Set(this.items.slice(first, last).map((item) => item.id));
    for (const [id, row] of this.rows) if (!wanted.has(id)) this.#release(id, row);
    let next = this.list.firstElementChild;
    for (const item of this.items.slice(first, last)) {
      const row = this.rows.get(item.id) ?? this.#takeRow(item.id);
      row.firstElementChild.show(item, this.contextOf(item));
      row.setAttribute('aria-setsize', '-1');
      row.setAttribute('aria-posinset', String(this.indexOfShown(item, first) + 1));
      if (row === next) next = row.nextElementSibling;
      else this.list.insertBefore(row, next);
    }
    this.list.style.setProperty('padding-top', `${before}px`);
    this.list.style.setProperty('padding-bottom', `${after}px`);
    if (last >= this.items.length - AHEAD) this.dispatchEvent(new Event('more'));
  }

  /** @param {any} item @param {number} first where to look from */
  indexOfShown(item, first) {
    return this.items.indexOf(item, first);
  }

  #schedule() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.layout();
    });
  }

  /** Which rows are to exist, and how high what lies before and after them is. */
  #range() {
    const top = -this.#listTop() - MARGIN_PIXELS;
    const bottom = top + innerHeight + 2 * MARGIN_PIXELS;
    const guess = this.#guess();
    let [y, first, before] = [0, -1, 0];
    let last = this.items.length;
    let after = 0;
    for (const [index, { id }] of this.items.entries()) {
      const height = this.heights.get(id) ?? guess;
      if (first < 0 && y + height > top) [first, before] = [index, y];
      if (last === this.items.length && first >= 0 && y > bottom) last = index;
      y += height;
      if (index >= last) after += height;
    }
    if (first < 0) {
      // Everything lies above: the end of the list, so that there is something where the person looks.
      first = Math.max(this.items.length - AHEAD, 0);
      before = this.#offsetOf(first);
    }
    return { first, last, before, after };
  }

  #listTop() {
    return this.list.getBoundingClientRect().top;
  }

  #guess() {
    return this.measuredCount ? this.measuredSum / this.measuredCount : HEIGHT_GUESS;
  }

  measuredCount = 0;
  measuredSum = 0;

  /** @param {number} index */
  #offsetOf(index) {
    const guess = this.#guess();
    return this.items.slice(0, index).reduce((sum, { id }) => sum + (this.heights.get(id) ?? guess), 0);
  }

  /** @param {string} id */
  #takeRow(id) {
    const row = this.spare.pop() ?? html('li', { class: 'row-place' }, html('memory-row'));
    row.dataset.id = id;
    this.rows.set(id, row);
    this.measuring?.observe(row);
    return row;
  }

  /** @param {string} id @param {any} row */
  #release(id, row) {
    const focused = row.contains(document.activeElement);
    this.measuring?.unobserve(row);
    this.rows.delete(id);
    row.remove();
    this.spare.push(row);
    // The row went out of sight with the focus in it: reading on by Tab starts from the list.
    if (focused) this.list.focus({ preventScroll: true });
  }

  /** @param {ResizeObserverEntry[]} entries */
  #measured(entries) {
    let [moved, changed] = [0, false];
    const viewTop = -this.#listTop();
    const guess = this.#guess();
    for (const { target, borderBoxSize } of entries) {
      const { id } = /** @type {HTMLElement} */ (target).dataset;
      const height = borderBoxSize[0].blockSize;
      if (!id || this.rows.get(id) !== target || height === 0) continue;
      const known = this.heights.get(id);
      if (known === height) continue;
      if (this.#offsetOf(this.indexOf(id)) + (known ?? guess) <= viewTop) moved += height - (known ?? guess);
      this.#remember(id, height, known);
      changed = true;
    }
    if (!changed) return;
    this.layout();
    // What is looked at stays where it is when a row above it turns out higher or lower than thought.
    if (Math.abs(moved) >= 1) scrollBy({ top: moved, behavior: 'instant' });
  }

  /** @param {string} id @param {number} height @param {number | undefined} known */
  #remember(id, height, known) {
    this.heights.set(id, height);
    this.measuredSum += height - (known ?? 0);
    if (known === undefined) this.measuredCount += 1;
  }

  /** @param {FocusEvent} event */
  #noteFocus(event) {
    const row = /** @type {HTMLElement} */ (event.target).closest('.row-place');
    if (row) this.currentId = /** @type {HTMLElement} */ (row).dataset.id ?? '';
  }
}

customElements.define('memory-list', MemoryList);
