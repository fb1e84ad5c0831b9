// @ts-check
/**
 * A list that is fetched page by page, without a DOM. It ends at the last page and only there, never asks with a cursor
 * it has had, and takes no answer to a question that is no longer asked.
 */
import { ApiError } from './api.js';

export const PAGE_SIZE = 50;
/** How long a search rests after the last key before it is asked. */
export const DEBOUNCE_MILLISECONDS = 250;

/**
 * @typedef {object} Page
 * @property {{cursor: string, node: any}[]} edges
 * @property {{hasNextPage: boolean, endCursor: string | null}} pageInfo
 * @property {number} [totalCount]
 */

/** Events: `changed`, after each change of items, state or error. */
export class Feed extends EventTarget {
  /** @param {(variables: Record<string, unknown>, signal: AbortSignal) => Promise<Page>} fetchPage */
  constructor(fetchPage) {
    super();
    this.fetchPage = fetchPage;
    /** @type {Record<string, unknown>} */
    this.variables = {};
    this.#reset();
    this.generation = 0;
    this.abort = new AbortController();
  }

  /** Starts anew with other arguments. @param {Record<string, unknown>} variables */
  start(variables) {
    this.abort.abort();
    this.abort = new AbortController();
    this.generation += 1;
    this.variables = variables;
    this.#reset();
    void this.next();
  }

  /** Forgets everything and asks nothing. */
  stop() {
    this.abort.abort();
    this.generation += 1;
    this.variables = {};
    this.#reset();
  }

  /** Whether there is more to ask for. */
  get hasMore() {
    return !this.ended;
  }

  /** The next page, unless one is on its way, failed and was not asked for again, or none follows. */
  async next({ again = false } = {}) {
    if (this.ended || this.state === 'loading' || (this.error && !again)) return;
    const generation = this.generation;
    this.state = 'loading';
    this.error = null;
    this.#tell();
    try {
      const page = await this.fetchPage(this.#pageVariables(), this.abort.signal);
      if (generation !== this.generation) return;
      this.#take(page);
    } catch (error) {
      if (generation !== this.generation) return;
      this.error = error instanceof ApiError ? error : new ApiError('failed');
      this.state = 'failed';
    }
    this.#tell();
  }

  /** Puts the answer of a change in the place of a belief. @param {{id: string}} memory */
  replace(memory) {
    const index = this.items.findIndex((item) => item.id === memory.id);
    if (index < 0) return;
    this.items = this.items.with(index, { ...this.items[index], ...memory });
    this.#tell();
  }

  /** Takes beliefs out of the list. @param {Iterable<string>} ids */
  remove(ids) {
    const gone = new Set(ids);
    const left = this.items.filter((item) => !gone.has(item.id));
    if (left.length === this.items.length) return;
    if (this.totalCount !== null) this.totalCount -= this.items.length - left.length;
    this.items = left;
    this.#tell();
  }

  #reset() {
    /** @type {any[]} */
    this.items = [];
    /** @type {'idle' | 'loading' | 'failed'} */
    this.state = 'idle';
    /** @type {ApiError | null} */
    this.error = null;
    this.ended = false;
    /** Whether the server answered with a cursor that was asked with before. */
    this.looped = false;
    /** @type {number | null} */
    this.totalCount = null;
    /** Whether a page has arrived. */
    this.answered = false;
    /** @type {string | null} */
    this.cursor = null;
    /** @type {Set<string>} */
    this.cursors = new Set();
    /** @type {Set<string>} */
    this.ids = new Set();
  }

  #pageVariables() {
    const first = this.cursor === null;
    return { ...this.variables, first: PAGE_SIZE, counted: first, ...(first ? {} : { after: this.cursor }) };
  }

  /** @param {Page} page */
  #take(page) {
    const fresh = page.edges.map((edge) => edge.node).filter((node) => !this.ids.has(node.id));
    for (const node of fresh) this.ids.add(node.id);
    this.items = [...this.items, ...fresh];
    this.state = 'idle';
    this.answered = true;
    if (typeof page.totalCount === 'number') this.totalCount = page.totalCount;
    const cursor = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    if (cursor === null) {
      this.ended = true;
    } else if (this.cursors.has(cursor)) {
      this.ended = true;
      this.looped = true;
    } else {
      this.cursors.add(cursor);
      this.cursor = cursor;
    }
  }

  #tell() {
    this.dispatchEvent(new Event('changed'));
  }
}

/**
 * Puts a call off until no further one came for a while.
 * @template {unknown[]} A
 * @param {(...values: A) => void} call
 * @param {number} [milliseconds]
 */
export function debounced(call, milliseconds = DEBOUNCE_MILLISECONDS) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @param {A} values */
  const later = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...values), milliseconds);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}
