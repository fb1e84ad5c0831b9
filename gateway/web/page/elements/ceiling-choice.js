// @ts-check
/** The level of privacy that is shown, always in sight, with a way to change it. */
import { html } from '../dom.js';
import { icon } from '../icons.js';
import { CEILINGS } from '../session.js';
import { text } from '../texts.js';

/** @typedef {import('../session.js').Ceiling} Ceiling */

class CeilingChoice extends HTMLElement {
  /**
   * @param {Ceiling} ceiling the one in force
   * @param {(ceiling: Ceiling) => void} onChoice
   */
  show(ceiling, onChoice) {
    const select = html(
      'select',
      {
        id: 'ceiling',
        testid: 'ceiling',
        'aria-describedby': 'ceiling-help',
        onchange: () => onChoice(/** @type {Ceiling} */ (select.value)),
      },
      CEILINGS.map((level) => html('option', { value: level }, text(`sensitivity.${level.toUpperCase()}`))),
    );
    select.value = ceiling;
    this.dataset.level = ceiling;
    this.replaceChildren(
      icon(ceiling === 'public' ? 'eye' : 'lock'),
      html('label', { for: 'ceiling' }, text('ceiling.label')),
      select,
      html('span', { id: 'ceiling-help', class: 'visually-hidden' }, text('ceiling.help')),
    );
  }
}

customElements.define('ceiling-choice', CeilingChoice);
