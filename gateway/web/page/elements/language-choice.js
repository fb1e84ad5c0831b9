// @ts-check
/** A choice of the language, by the languages' own names. */
import { html } from '../dom.js';
import { LANGUAGES, language, text, useLanguage } from '../texts.js';

/** @param {() => void} onChanged called when the new texts are there @returns {HTMLElement} */
export function languageChoice(onChanged) {
  const select = html(
    'select',
    {
      testid: 'language',
      onchange: async () => {
        await useLanguage(select.value, { remember: true });
        onChanged();
      },
    },
    Object.entries(LANGUAGES).map(([code, name]) => html('option', { value: code, lang: code }, name)),
  );
  select.value = language();
  return html('label', { class: 'inline-field' }, html('span', {}, text('settings.language')), select);
}
