// @ts-check
/** What a person can say of a belief, as buttons with what each means. */
import { html } from '../dom.js';
import { icon } from '../icons.js';
import { isDerived } from '../items.js';
import { text } from '../texts.js';
import { isLive } from '../wording.js';

/** @typedef {import('../writes.js').ActKind} ActKind */

/** @type {Record<ActKind, string>} */
const ICONS = { dismiss: 'check', untrue: 'untrue', not_here: 'here', delete: 'trash' };

/**
 * Which acts make a difference for a belief; deleting always does.
 * @param {{status: string, flaggedForReview: boolean, portability?: string}} memory
 * @returns {ActKind[]}
 */
export function offeredActs(memory) {
  /** @type {ActKind[]} */
  const acts = [];
  if (memory.flaggedForReview) acts.push('dismiss');
  if (isLive(memory)) acts.push('untrue');
  if (isLive(memory) && memory.portability !== 'LOCAL') acts.push('not_here');
  return [...acts, 'delete'];
}

/**
 * @param {object} options
 * @param {any} options.memory
 * @param {boolean} options.busy whether an act on it is on its way
 * @param {boolean} [options.compact] without what each means
 * @param {(kind: ActKind) => void} options.onAct
 * @returns {HTMLElement}
 */
export function reviewActions({ memory, busy, compact = false, onAct }) {
  const help = (/** @type {ActKind} */ kind) => text(`act.${kind}_help${isDerived(memory) ? '_derived' : ''}`);
  const buttons = offeredActs(memory).map((kind) =>
    html(
      'button',
      {
        type: 'button',
        class: `act ${kind}`,
        testid: `review.${kind}`,
        'aria-disabled': busy ? 'true' : null,
        title: compact ? help(kind) : null,
        onclick: () => busy || onAct(kind),
      },
      icon(ICONS[kind]),
      html(
        'span',
        {},
        html('span', { class: 'act-name' }, text(`act.${kind}`)),
        compact ? null : html('small', {}, help(kind)),
      ),
    ),
  );
  return html('div', { class: compact ? 'acts compact' : 'acts', role: 'group', 'aria-label': text('act.title') }, buttons);
}
