// @ts-check
/** The page of a list: its heading, the filters, the rows, and what is said where there are none. */
import { html } from '../dom.js';
import { language, text } from '../texts.js';
import { filterOf, formatView, isFiltered } from '../view.js';
import './filter-bar.js';
import './memory-list.js';
import './selection-bar.js';
import { errorState } from './state-panel.js';

/**
 * @typedef {object} ListContext
 * @property {import('../session.js').Session} session
 * @property {import('../feed.js').Feed} feed
 * @property {import('../corrections.js').Corrections} corrections
 * @property {import('../view.js').View} view
 * @property {(filter: import('../view.js').Filter, typed: boolean) => void} onFilter
 * @property {() => void} onReload
 */

class ListPage extends HTMLElement {
  connectedCallback() {
    if (this.list) return;
    this.heading = html('h1', { class: 'page-title', tabindex: '-1' });
    this.lead = html('p', { class: 'page-lead' });
    this.count = html('p', { class: 'list-count', role: 'status', testid: 'list.count' });
    this.filters = html('filter-bar');
    this.state = html('state-panel', { hidden: true });
    this.list = html('memory-list');
    this.foot = html('div', { class: 'list-foot', testid: 'list.foot' });
    this.selection = html('selection-bar', { hidden: true });
    this.replaceChildren(
      html('header', { class: 'page-head' }, this.heading, this.lead),
      this.filters,
      this.count,
      this.state,
      this.list,
      this.foot,
      this.selection,
    );
    this.list.addEventListener('more', () => void this.context?.feed.next());
  }

  /** @param {ListContext} context */
  show(context) {
    this.context = context;
    const { feed, view, session, onFilter } = context;
    const queue = view.list === 'review';
    setText(this.heading, text(queue ? 'review.title' : 'list.title'));
    setText(this.lead, text(queue ? 'review.lead' : 'list.lead'));
    this.filters.show(view.filter, { queue, derived: session.derivedSupported, language: language(), onFilter });
    const panel = this.#panel(context);
    this.state.show(panel);
    this.list.hidden = feed.items.length === 0;
    const counted = session.derivedSupported && !view.filter.kind ? 'list.count_items' : 'list.count';
    setText(this.count, feed.totalCount && feed.items.length > 0 ? text(counted, { count: feed.totalCount }) : '');
    this.list.show(feed.items, (/** @type {any} */ memory) => rowContext(memory, context));
    this.#showFoot(context, panel !== null);
    this.#showSelection(context);
  }

  focusSearch() {
    this.filters.focusSearch();
  }

  focusHeading() {
    this.heading.focus({ preventScroll: true });
  }

  /** What stands in the place of the rows. @param {ListContext} context */
  #panel({ session, feed, view, onFilter, onReload }) {
    if (!session.browsingSupported) return { ...stateOf('unsupported'), state: 'unsupported' };
    if (!session.canRead) return { ...stateOf('forbidden'), state: 'forbidden' };
    if (feed.items.length > 0) return null;
    if (feed.error) return errorState(feed.error, onReload);
    if (feed.looped) {
      const again = { label: text('list.refresh'), run: onReload };
      return { state: 'error', title: text('state.error.title'), text: text('list.loop'), actions: [again] };
    }
    if (!feed.answered || feed.hasMore) return { state: 'loading', title: text('state.loading') };
    if (isFiltered(view.filter)) {
      const clear = { label: text('state.no_match.action'), run: () => onFilter(filterOf(), false) };
      return { ...stateOf('no_match'), state: 'empty', sign: 'search', actions: [clear] };
    }
    return { ...stateOf(view.list === 'review' ? 'review_empty' : 'empty'), state: 'empty' };
  }

  /** @param {ListContext} context @param {boolean} covered */
  #showFoot({ feed, onReload }, covered) {
    const kind = covered ? '' : footKind(feed);
    const reason = feed.error ? errorState(feed.error, () => {}).title : '';
    if (this.foot.dataset.kind === `${kind}${reason}${language()}`) return;
    this.foot.dataset.kind = `${kind}${reason}${language()}`;
    const again = () => void feed.next({ again: true });
    /** @type {Record<string, any[]>} */
    const parts = {
      '': [],
      loading: [html('p', { role: 'status' }, text('list.more'))],
      failed: [
        html('p', { role: 'alert' }, text('list.more_failed', { reason })),
        html('button', { type: 'button', class: 'button', testid: 'list.retry', onclick: again }, text('state.retry')),
      ],
      loop: [
        html('p', { role: 'alert' }, text('list.loop')),
        html('button', { type: 'button', class: 'button', onclick: onReload }, text('list.refresh')),
      ],
      end: [html('p', {}, text('list.end'))],
    };
    this.foot.replaceChildren(...parts[kind]);
  }

  /** @param {ListContext} context */
  #showSelection({ corrections, session }) {
    const memories = session.canWrite ? [...corrections.selected.values()] : [];
    this.selection.show(
      { memories, progress: corrections.progress, report: corrections.report },
      {
        onAct: (/** @type {any} */ kind) => void corrections.act(kind, memories),
        onClear: () => corrections.clearSelection(),
        onRetry: () => void corrections.retryFailed(),
      },
    );
  }
}

/** @param {import('../feed.js').Feed} feed */
function footKind(feed) {
  if (feed.looped) return 'loop';
  if (feed.ended) return 'end';
  if (feed.error) return 'failed';
  return 'loading';
}

/** @param {any} memory @param {ListContext} context */
function rowContext(memory, { session, corrections, view }) {
  return {
    href: formatView({ ...view, place: 'memory', id: memory.id }),
    open: view.place === 'memory' && view.id === memory.id,
    selected: corrections.selected.has(memory.id),
    canWrite: session.canWrite,
    queue: view.list === 'review',
    busy: corrections.busy.has(memory.id),
    language: language(),
  };
}

/** @param {string} stem */
function stateOf(stem) {
  return { title: text(`state.${stem}.title`), text: text(`state.${stem}.text`) };
}

/** @param {HTMLElement} element @param {string} words */
function setText(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

customElements.define('list-page', ListPage);
