// @ts-check
/** What goes on where there is nothing else to show: loading, empty, or why not and what to do. */
import { html } from '../dom.js';
import { icon } from '../icons.js';
import { text } from '../texts.js';

/**
 * @typedef {object} PanelState
 * @property {'loading' | 'empty' | 'error' | 'offline' | 'unsupported' | 'forbidden'} state
 * @property {string} title
 * @property {string} [text]
 * @property {{label: string, run: () => void}[]} [actions]
 * @property {number} [level] of the heading
 * @property {string} [sign] the icon, where it is not that of the state
 */

/** Which of the states of the panel each kind of error is, and the stem of its texts. @type {Record<string, [PanelState['state'], string]>} */
const OF_ERROR = {
  offline: ['offline', 'state.offline'],
  forbidden: ['forbidden', 'state.forbidden'],
  unsupported: ['unsupported', 'state.unsupported'],
  limited: ['error', 'state.limited'],
  refused: ['error', 'state.refused'],
  not_found: ['empty', 'state.not_found'],
};

/** @type {Record<PanelState['state'], string>} */
const ICONS = {
  loading: 'clock',
  empty: 'check',
  error: 'alert',
  offline: 'offline',
  unsupported: 'alert',
  forbidden: 'lock',
};

/**
 * The panel of an error, with a way to try again where that may help.
 * @param {import('../api.js').ApiError} error
 * @param {() => void} retry
 * @returns {PanelState}
 */
export function errorState(error, retry) {
  const [state, stem] = OF_ERROR[error.kind] ?? ['error', 'state.error'];
  const wait = error.kind === 'limited' && error.retryAfterSeconds;
  const again = !['forbidden', 'unsupported', 'not_found'].includes(error.kind);
  return {
    state,
    title: text(`${stem}.title`),
    text: wait ? text('state.limited.text_seconds', { count: wait }) : text(`${stem}.text`),
    actions: again ? [{ label: text('state.retry'), run: retry }] : [],
  };
}

class StatePanel extends HTMLElement {
  /** @param {PanelState | null} panel null shows nothing */
  show(panel) {
    const signature = JSON.stringify(panel && [panel.state, panel.title, panel.text]);
    if (this.dataset.signature === signature && panel?.state === 'loading') return;
    this.dataset.signature = signature;
    this.hidden = panel === null;
    this.dataset.testid = 'state';
    if (panel === null) {
      delete this.dataset.state;
      this.replaceChildren();
      return;
    }
    this.dataset.state = panel.state;
    this.setAttribute('role', panel.state === 'loading' || panel.state === 'empty' ? 'status' : 'alert');
    this.replaceChildren(...(panel.state === 'loading' ? skeleton(panel.title) : words(panel)));
  }
}

/** @param {string} title */
function skeleton(title) {
  const bars = Array.from({ length: 6 }, () =>
    html('div', { class: 'skeleton-row', 'aria-hidden': 'true' }, html('span'), html('span'), html('span')),
  );
  return [html('p', { class: 'visually-hidden' }, title), ...bars];
}

/** @param {PanelState} panel */
function words(panel) {
  const actions = (panel.actions ?? []).map((action, index) =>
    html('button', { type: 'button', class: index === 0 ? 'button' : 'button quiet', onclick: action.run }, action.label),
  );
  return [
    html('span', { class: 'state-icon' }, icon(panel.sign ?? ICONS[panel.state])),
    html(`h${panel.level ?? 2}`, { class: 'state-title' }, panel.title),
    panel.text ? html('p', { class: 'state-text' }, panel.text) : '',
    actions.length > 0 ? html('div', { class: 'state-actions' }, actions) : '',
  ].filter((part) => part !== '');
}

customElements.define('state-panel', StatePanel);
