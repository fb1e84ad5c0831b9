// @ts-check
/** One item of the list: the statement first and largest, then whom it is about and of what kinds, then how it stands. */
import { html } from '../dom.js';
import { icon } from '../icons.js';
import { isDerived } from '../items.js';
import { addSwipe } from '../swipe.js';
import { text } from '../texts.js';
import { isKeptHere, kindsText } from '../wording.js';
import { reviewActions } from './review-actions.js';

/**
 * @typedef {object} RowContext
 * @property {string} href of the belief
 * @property {boolean} open whether it stands in the panel beside
 * @property {boolean} selected
 * @property {boolean} canWrite
 * @property {boolean} queue whether the row offers its actions
 * @property {boolean} busy
 */

class MemoryRow extends HTMLElement {
  constructor() {
    super();
    /** @type {any} */
    this.memory = null;
    this.shownAs = '';
  }

  connectedCallback() {
    if (this.swiped) return;
    this.swiped = true;
    addSwipe(this, {
      enabled: () => this.dataset.canWrite === 'true',
      onRight: () => this.#act('dismiss'),
      onLeft: () => this.#act('delete'),
    });
  }

  /** @param {any} memory @param {RowContext} context */
  show(memory, context) {
    const shownAs = JSON.stringify(context);
    if (this.memory === memory && this.shownAs === shownAs) return;
    const focused = this.contains(document.activeElement) ? focusKey() : null;
    this.memory = memory;
    this.shownAs = shownAs;
    this.dataset.testid = `memory.row.${memory.id}`;
    this.dataset.canWrite = String(context.canWrite);
    this.className = ['row', isDerived(memory) && 'derived', context.selected && 'selected', context.open && 'open', context.busy && 'busy'].filter(Boolean).join(' ');
    this.replaceChildren(
      ...(context.canWrite ? [swipeSign('right'), swipeSign('left')] : []),
      html(
        'div',
        { class: 'row-face' },
        context.canWrite ? this.#checkbox(context) : null,
        html(
          'div',
          { class: 'row-body' },
          statementLink(memory, context),
          metaLine(memory),
          alerts(memory),
          context.queue && context.canWrite
            ? reviewActions({ memory, busy: context.busy, compact: true, onAct: (kind) => this.#act(kind) })
            : null,
        ),
      ),
    );
    if (focused) /** @type {HTMLElement | null} */ (this.querySelector(focused))?.focus({ preventScroll: true });
  }

  focusLink() {
    this.querySelector('a')?.focus({ preventScroll: true });
  }

  /** @param {RowContext} context */
  #checkbox(context) {
    const box = html('input', {
      type: 'checkbox',
      testid: `select.${this.memory.id}`,
      'aria-label': text('row.select', { statement: this.memory.statement }),
      onchange: () => this.#tell('rowselect', { id: this.memory.id, selected: box.checked }),
    });
    box.checked = context.selected;
    return html('label', { class: 'row-select' }, box);
  }

  /** @param {import('../writes.js').ActKind} kind */
  #act(kind) {
    this.#tell('act', { kind, memories: [this.memory] });
  }

  /** @param {string} name @param {object} detail */
  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));
  }
}

/** @param {any} memory @param {RowContext} context */
function statementLink(memory, context) {
  return html(
    'a',
    { class: 'row-statement', href: context.href, 'aria-current': context.open ? 'true' : null },
    memory.polarity === 'RETRACT' ? html('span', { class: 'negated', title: text('row.negated_help') }, text('row.negated'), ' ') : null,
    html('bdi', { dir: 'auto', class: 'statement' }, memory.statement),
  );
}

/** Whom it is about, of what kinds, how private, and where it stands if that is not as usual. @param {any} memory */
export function metaLine(memory) {
  return html(
    'p',
    { class: 'row-meta' },
    html('bdi', { dir: 'auto', class: 'subject' }, memory.subject),
    html('span', { class: 'kind' }, kindsText(memory)),
    isDerived(memory) ? derivedChip(memory) : null,
    sensitivityBadge(memory.sensitivity),
    memory.status === 'ACTIVE' ? null : html('span', { class: 'tag' }, text(`status.${memory.status}`)),
  );
}

/** What kind of derived record it is, and how much it rests on. @param {any} record */
export function derivedChip({ recordKind, sourceIds }) {
  const kind = recordKind.toLowerCase();
  const words = [text(`derived.kind.${recordKind}`), text('derived.sources_count', { count: sourceIds.length })];
  return html('span', { class: `derived-chip ${kind}`, testid: 'derived.chip' }, icon(kind), words.join(' · '));
}

/** @param {string} sensitivity */
export function sensitivityBadge(sensitivity) {
  return html(
    'span',
    { class: `badge ${sensitivity.toLowerCase()}` },
    sensitivity === 'PUBLIC' ? null : icon('lock'),
    text(`sensitivity.${sensitivity}`),
  );
}

/** @param {any} memory */
function alerts(memory) {
  const conflicts = memory.conflictsWith?.length ?? 0;
  const parts = [];
  if (memory.flaggedForReview) parts.push(html('span', { class: 'alert flagged' }, icon('flag'), text('row.flagged')));
  if (isKeptHere(memory)) parts.push(html('span', { class: 'alert kept', title: text('row.kept_here_help') }, icon('here'), text('row.kept_here')));
  if (conflicts > 0) {
    parts.push(html('span', { class: 'alert conflict' }, icon('conflict'), text('row.conflicts', { count: conflicts })));
  }
  return parts.length > 0 ? html('p', { class: 'row-alerts' }, parts) : null;
}

/** @param {'left' | 'right'} side the direction of the swipe that brings it into sight */
function swipeSign(side) {
  const [sign, key] = side === 'right' ? ['check', 'act.dismiss'] : ['trash', 'act.delete'];
  return html('div', { class: `swipe-sign ${side}`, 'aria-hidden': 'true' }, icon(sign), text(key));
}

/** How to find what has the focus after the row was drawn anew. */
function focusKey() {
  const { activeElement } = document;
  const testid = activeElement?.getAttribute('data-testid');
  return testid ? `[data-testid="${testid}"]` : 'a';
}

customElements.define('memory-row', MemoryRow);
