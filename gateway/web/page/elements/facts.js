// @ts-check
/** The pieces that the facts about a belief or a derived record are told with. */
import { html } from '../dom.js';
import { momentText, text } from '../texts.js';
import { sureText } from '../wording.js';

/** @param {string} title @param {any[]} facts */
export function section(title, facts) {
  return html('section', { class: 'detail-section' }, html('h3', {}, text(title)), html('dl', { class: 'facts' }, facts));
}

/** @param {string} key @param {any} value */
export function fact(key, value) {
  return html('div', {}, html('dt', {}, text(key)), html('dd', {}, value));
}

/** A moment to the minute, where there is one. @param {string} key @param {string | null | undefined} at */
export function moment(key, at) {
  return at ? fact(key, html('time', { datetime: at }, momentText(at))) : null;
}

/** One of the facts below the heading. @param {string} key @param {any} value */
export function keyFact(key, value) {
  return html('div', {}, html('dt', {}, text(key)), html('dd', {}, value));
}

/** How sure the system is, in words and as a bar. @param {number} confidence */
export function meter(confidence) {
  const fill = html('span', { class: 'meter-fill' });
  fill.style.setProperty('inline-size', `${Math.round(confidence * 100)}%`);
  return [html('span', {}, sureText(confidence)), html('span', { class: 'meter', 'aria-hidden': 'true' }, fill)];
}
