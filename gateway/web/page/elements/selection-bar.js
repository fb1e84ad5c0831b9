// @ts-check
/** What to do with several selected beliefs at once, how far it is, and what was not saved. */
import { html } from '../dom.js';
import { icon } from '../icons.js';
import { text } from '../texts.js';
import { reasonText } from '../wording.js';

/** @typedef {import('../writes.js').ActKind} ActKind */
/**
 * @typedef {object} Selection
 * @property {any[]} memories those selected
 * @property {{done: number, count: number} | null} progress of what is being carried out
 * @property {{done: number, failed: {memory: any, error: import('../api.js').ApiError}[]} | null} report of what was
 */

/** @type {[ActKind, string][]} */
const ACTS = [
  ['dismiss', 'check'],
  ['untrue', 'untrue'],
  ['not_here', 'here'],
  ['delete', 'trash'],
];

class SelectionBar extends HTMLElement {
  /**
   * @param {Selection} selection
   * @param {{onAct: (kind: ActKind) => void, onClear: () => void, onRetry: () => void}} listeners
   */
  show({ memories, progress, report }, { onAct, onClear, onRetry }) {
    this.hidden = memories.length === 0 && !progress && !report;
    this.dataset.testid = 'selection.bar';
    this.setAttribute('role', 'region');
    this.setAttribute('aria-label', text('selection.label'));
    if (this.hidden) this.replaceChildren();
    else if (progress) this.replaceChildren(running(progress));
    else if (report) this.replaceChildren(reported(report, onClear, onRetry));
    else this.replaceChildren(choices(memories.length, onAct, onClear));
  }
}

/** @param {number} count @param {(kind: ActKind) => void} onAct @param {() => void} onClear */
function choices(count, onAct, onClear) {
  const acts = ACTS.map(([kind, sign]) =>
    html(
      'button',
      { type: 'button', class: `act ${kind}`, testid: `review.${kind}`, onclick: () => onAct(kind) },
      icon(sign),
      html('span', {}, text(`act.${kind}`)),
    ),
  );
  return html(
    'div',
    { class: 'selection-line' },
    html('p', { class: 'selection-count', role: 'status' }, text('selection.count', { count })),
    html('div', { class: 'acts compact' }, acts),
    clearButton(onClear),
  );
}

/** @param {() => void} onClear */
function clearButton(onClear) {
  return html(
    'button',
    { type: 'button', class: 'icon-button', 'aria-label': text('selection.clear'), testid: 'selection.clear', onclick: onClear },
    icon('close'),
  );
}

/** @param {{done: number, count: number}} progress */
function running({ done, count }) {
  return html(
    'div',
    { class: 'selection-line' },
    html('p', { class: 'selection-count', role: 'status' }, text('selection.progress', { done, count })),
    html('progress', { max: count, value: done, 'aria-label': text('act.busy'), testid: 'selection.progress' }),
  );
}

/**
 * @param {NonNullable<Selection['report']>} report
 * @param {() => void} onClear
 * @param {() => void} onRetry
 */
function reported({ done, failed }, onClear, onRetry) {
  const lines = failed.map(({ memory, error }) =>
    html('li', {}, html('bdi', { dir: 'auto' }, memory.statement), ' ', html('span', { class: 'reason' }, reasonText(error))),
  );
  return html(
    'div',
    { class: 'selection-report', testid: 'selection.report' },
    html(
      'div',
      { class: 'selection-line' },
      html(
        'p',
        { class: 'selection-count', role: 'status' },
        [
          done > 0 ? text('selection.done', { count: done }) : '',
          failed.length > 0 ? text('selection.failed', { count: failed.length }) : '',
        ]
          .filter(Boolean)
          .join(' '),
      ),
      failed.length > 0
        ? html('button', { type: 'button', class: 'button', testid: 'selection.retry', onclick: onRetry }, text('selection.retry'))
        : null,
      clearButton(onClear),
    ),
    lines.length > 0 ? html('ul', { class: 'failures' }, lines) : null,
  );
}

customElements.define('selection-bar', SelectionBar);
