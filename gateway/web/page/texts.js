// @ts-check
/**
 * The words of the page in the person's language. A catalogue is one file of `texts/`: the same keys in each, a value
 * is a text with `{name}` in it or one text for each plural form, chosen by the value `count`.
 */
import english from './texts/en.js';

/** @typedef {string | Partial<Record<Intl.LDMLPluralRule, string>>} Entry */
/** @typedef {Record<string, Entry>} Catalogue */

const STORED_AS = 'belief-browser.language';

/** The languages there are, by their own names. */
export const LANGUAGES = Object.freeze({ en: 'English', de: 'Deutsch', es: 'Español' });

/** @type {{code: string, catalogue: Catalogue}} */
const current = { code: 'en', catalogue: english };

/** @returns {string} the code of the language in use */
export function language() {
  return current.code;
}

/** The language in use as it is written where the person is: days and numbers follow the region. */
export function locale() {
  return navigator.languages.find((code) => code.toLowerCase().split('-')[0] === current.code) ?? current.code;
}

/** The language the person chose here, else the first of the browser's that there is, else English. */
export function preferredLanguage() {
  const chosen = stored();
  const wanted = [...(chosen ? [chosen] : []), ...navigator.languages].map((code) => code.toLowerCase().split('-')[0]);
  return wanted.find((code) => code in LANGUAGES) ?? 'en';
}

/**
 * Takes a language into use; English stays where its catalogue can't be loaded.
 * @param {string} code
 * @param {{remember?: boolean}} [options] whether it is the person's own choice, to be kept
 */
export async function useLanguage(code, { remember = false } = {}) {
  const loaded = code === 'en' ? { default: english } : await import(`./texts/${code}.js`).catch(() => null);
  current.code = loaded ? code : 'en';
  current.catalogue = loaded?.default ?? english;
  document.documentElement.lang = current.code;
  if (remember) store(code);
}

/**
 * One text of the catalogue.
 * @param {string} key
 * @param {Record<string, string | number>} [values] what stands for the names in braces; numbers are written as the language does
 * @returns {string}
 */
export function text(key, values = {}) {
  const entry = current.catalogue[key] ?? english[key] ?? key;
  const form = typeof entry === 'string' ? entry : (entry[plural(values.count)] ?? entry.other ?? key);
  return form.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? shown(values[name]) : whole));
}

/** @param {string | number | undefined} count */
function plural(count) {
  return new Intl.PluralRules(current.code).select(Number(count ?? 0));
}

/** @param {string | number} value */
function shown(value) {
  return typeof value === 'number' ? numberText(value) : value;
}

/**
 * @param {number} value
 * @param {Intl.NumberFormatOptions} [options]
 */
export function numberText(value, options = {}) {
  return new Intl.NumberFormat(locale(), options).format(value);
}

/** A day in words. @param {string | number | Date} moment */
export function dayText(moment) {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'long' }).format(new Date(moment));
}

/** A day in few characters. @param {string | number | Date} moment */
export function shortDayText(moment) {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'medium' }).format(new Date(moment));
}

/** A day with the time, to the minute, where the person is. @param {string | number | Date} moment */
export function momentText(moment) {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'long', timeStyle: 'short' }).format(new Date(moment));
}

/** A month of the overview. @param {string} month as YYYY-MM @param {'long' | 'short'} [style] */
export function monthText(month, style = 'long') {
  const moment = new Date(`${month}-01T00:00:00Z`);
  return new Intl.DateTimeFormat(locale(), { year: 'numeric', month: style, timeZone: 'UTC' }).format(moment);
}

/** Several texts as one enumeration. @param {string[]} items */
export function listText(items) {
  return new Intl.ListFormat(current.code, { type: 'conjunction' }).format(items);
}

function stored() {
  try {
    return localStorage.getItem(STORED_AS);
  } catch {
    return null; // A browser that keeps nothing for pages: the language of the browser is used.
  }
}

/** @param {string} code */
function store(code) {
  try {
    localStorage.setItem(STORED_AS, code);
  } catch {
    // A browser that keeps nothing for pages: the choice holds until the page is left.
  }
}
