// @ts-check
/** The way in: the token, how long it is kept, and how private it may get on this screen. */
import { ApiError } from '../api.js';
import { html } from '../dom.js';
import { CEILINGS } from '../session.js';
import { text } from '../texts.js';
import { reasonText } from '../wording.js';
import { languageChoice } from './language-choice.js';

/** @typedef {import('../session.js').Session} Session */
/** @typedef {import('../session.js').Ceiling} Ceiling */

class SignInForm extends HTMLElement {
  /**
   * @param {Session} session
   * @param {{ceiling: Ceiling | '', onCeiling: (ceiling: Ceiling) => void, onLanguage: () => void}} options
   */
  show(session, { ceiling, onCeiling, onLanguage }) {
    this.session = session;
    this.onCeiling = onCeiling;
    const token = html('input', {
      id: 'token',
      testid: 'signin.token',
      type: 'password',
      autocomplete: 'off',
      autocapitalize: 'none',
      spellcheck: 'false',
      'aria-describedby': 'token-help signin-message',
    });
    const reveal = html(
      'button',
      { type: 'button', class: 'button quiet reveal', 'aria-controls': 'token', onclick: () => toggle(token, reveal) },
      text('signin.show'),
    );
    const remember = html('input', { id: 'remember', type: 'checkbox', testid: 'signin.remember' });
    const submit = html('button', { type: 'submit', class: 'button primary', testid: 'signin.submit' }, text('signin.submit'));
    const message = html('p', { id: 'signin-message', class: 'form-message', role: 'alert', testid: 'signin.message' });
    const form = html(
      'form',
      { class: 'signin-card', novalidate: true },
      message,
      html(
        'div',
        { class: 'field' },
        html('label', { for: 'token' }, text('signin.token')),
        html('div', { class: 'field-with-button' }, token, reveal),
        html('p', { id: 'token-help', class: 'help' }, text('signin.token_help')),
      ),
      ceilingField(ceiling || 'public'),
      html(
        'div',
        { class: 'signin-end' },
        html('label', { class: 'check', for: 'remember' }, remember, html('span', {}, text('signin.remember'))),
        submit,
      ),
    );
    form.addEventListener('submit', (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      void this.#submit({ form, token, remember, submit, message });
    });
    this.replaceChildren(
      html('header', { class: 'signin-head' }, html('h1', {}, text('signin.title')), html('p', {}, text('signin.lead'))),
      form,
      html('div', { class: 'signin-foot' }, languageChoice(onLanguage)),
    );
    if (session.endedBecause) tell(message, text(session.endedBecause), session.endedBecause === 'signin.signed_out');
    token.focus();
  }

  /** @param {{form: any, token: any, remember: any, submit: any, message: any}} parts */
  async #submit({ form, token, remember, submit, message }) {
    const secret = token.value.trim();
    if (secret === '') {
      tell(message, text('signin.token_missing'));
      token.setAttribute('aria-invalid', 'true');
      token.focus();
      return;
    }
    submit.setAttribute('aria-disabled', 'true');
    submit.textContent = text('signin.busy');
    tell(message, '');
    try {
      const ceiling = /** @type {Ceiling} */ (new FormData(form).get('ceiling'));
      this.onCeiling?.(ceiling);
      await /** @type {Session} */ (this.session).signIn(secret, { remember: remember.checked, ceiling });
    } catch (error) {
      const known = error instanceof ApiError ? error : new ApiError('failed');
      const refused = known.kind === 'unauthenticated';
      tell(message, refused ? text('signin.refused') : reasonText(known));
      token.toggleAttribute('aria-invalid', refused);
      submit.removeAttribute('aria-disabled');
      submit.textContent = text('signin.submit');
      token.focus();
    }
  }
}

/** @param {Ceiling} chosen */
function ceilingField(chosen) {
  const choices = CEILINGS.map((level) => {
    const name = level.toUpperCase();
    const input = html('input', {
      type: 'radio',
      name: 'ceiling',
      value: level,
      checked: level === chosen,
      testid: `signin.ceiling.${level}`,
    });
    return html(
      'label',
      { class: 'choice' },
      input,
      html('span', {}, html('strong', {}, text(`sensitivity.${name}`)), html('small', {}, text(`sensitivity_help.${name}`))),
    );
  });
  return html(
    'fieldset',
    { class: 'field', 'aria-describedby': 'signin-ceiling-help' },
    html('legend', {}, text('signin.ceiling')),
    html('p', { id: 'signin-ceiling-help', class: 'help' }, text('signin.ceiling_help')),
    html('div', { class: 'choices' }, choices),
  );
}

/** @param {HTMLInputElement} token @param {HTMLButtonElement} button */
function toggle(token, button) {
  const hidden = token.type === 'password';
  token.type = hidden ? 'text' : 'password';
  button.textContent = text(hidden ? 'signin.hide' : 'signin.show');
}

/** @param {HTMLElement} message @param {string} words */
function tell(message, words, calm = false) {
  message.textContent = words;
  message.classList.toggle('calm', calm);
}

customElements.define('sign-in-form', SignInForm);
