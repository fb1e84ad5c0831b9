// @ts-check
/**
 * What is looked at, kept in the fragment of the address, which no server and no Referer ever sees: `#/memories`,
 * `#/review`, `#/overview` and `#/memory/<id>`, with the filter of the list behind a question mark.
 */
import { CEILINGS } from './session.js';

/**
 * @typedef {object} Filter
 * @property {string} text words to search for
 * @property {string} status '' for what is believed now, 'all', or one status
 * @property {string} type '' or one belief type
 * @property {string} subject
 * @property {string} session
 * @property {string} review '' | 'flagged' | 'unflagged'
 * @property {string} kind '' or 'beliefs', without what was concluded from them
 * @property {string} sensitivity '' or one level
 * @property {string} confidenceMin a number as text
 * @property {string} confidenceMax a number as text
 * @property {string} formedAfter a day as YYYY-MM-DD, included
 * @property {string} formedBefore a day as YYYY-MM-DD, excluded
 */

/** @typedef {'memories' | 'review' | 'overview' | 'memory'} Place */
/**
 * @typedef {object} View
 * @property {Place} place
 * @property {string} id the belief of the place `memory`
 * @property {'memories' | 'review'} list the list that is shown, or stands behind the belief
 * @property {Filter} filter
 * @property {import('./session.js').Ceiling | ''} ceiling
 */

const STATUSES = ['provisional', 'active', 'superseded', 'expired', 'retired', 'candidate'];
const TYPES = ['fact', 'preference', 'relationship', 'user_model_attr', 'procedure_pointer'];
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const NUMBER = /^(0(\.\d{1,6})?|1(\.0{1,6})?)$/;

/** What each parameter may hold; anything else is left out. @type {Record<keyof Filter, (value: string) => boolean>} */
const KNOWN = {
  text: () => true,
  status: (value) => value === 'all' || STATUSES.includes(value),
  type: (value) => TYPES.includes(value),
  subject: () => true,
  session: () => true,
  review: (value) => value === 'flagged' || value === 'unflagged',
  kind: (value) => value === 'beliefs',
  sensitivity: (value) => /** @type {readonly string[]} */ (CEILINGS).includes(value),
  confidenceMin: (value) => NUMBER.test(value),
  confidenceMax: (value) => NUMBER.test(value),
  formedAfter: (value) => DAY.test(value),
  formedBefore: (value) => DAY.test(value),
};
const NAMES = /** @type {(keyof Filter)[]} */ (Object.keys(KNOWN));

/** The choices of the filter bar. */
export const FILTER_STATUSES = Object.freeze(['', 'all', 'active', 'provisional', 'superseded', 'expired', 'retired']);
export const FILTER_TYPES = Object.freeze(['', ...TYPES]);

/** A filter that lets everything through, but for what is given. @param {Partial<Filter>} [given] @returns {Filter} */
export function filterOf(given = {}) {
  const filter = /** @type {Filter} */ ({});
  for (const name of NAMES) filter[name] = '';
  return { ...filter, ...given };
}

/** @param {Filter} filter */
export function isFiltered(filter) {
  return NAMES.some((name) => filter[name] !== '');
}

/** Reads a fragment; what is not understood is as if it weren't there. @param {string} fragment @returns {View} */
export function parseView(fragment) {
  const [path, query = ''] = fragment.replace(/^#/, '').split(/\?(.*)/s);
  const [, place = '', id = ''] = path.split('/');
  const values = new URLSearchParams(query);
  const filter = filterOf();
  for (const name of NAMES) {
    const value = values.get(name) ?? '';
    if (value !== '' && KNOWN[name](value)) filter[name] = value;
  }
  const ceiling = values.get('ceiling') ?? '';
  const known = place === 'review' || place === 'overview' || (place === 'memory' && id !== '') ? place : 'memories';
  return {
    place: known,
    id: known === 'memory' ? decoded(id) : '',
    list: known === 'review' || values.get('list') === 'review' ? 'review' : 'memories',
    filter,
    ceiling: /** @type {View['ceiling']} */ (/** @type {readonly string[]} */ (CEILINGS).includes(ceiling) ? ceiling : ''),
  };
}

/** The fragment of a view. @param {View} view @returns {string} */
export function formatView(view) {
  const values = new URLSearchParams();
  if (view.place !== 'overview') {
    for (const name of NAMES) if (view.filter[name] !== '') values.set(name, view.filter[name]);
  }
  if (view.place === 'memory' && view.list === 'review') values.set('list', 'review');
  if (view.ceiling !== '') values.set('ceiling', view.ceiling);
  const query = values.toString();
  const path = view.place === 'memory' ? `memory/${encodeURIComponent(view.id)}` : view.place;
  return `#/${path}${query && `?${query}`}`;
}

/** The view of the address of now. */
export function currentView() {
  return parseView(location.hash);
}

/** Goes to a view, so that back leads here. @param {View} view @param {Record<string, unknown>} [state] */
export function go(view, state = {}) {
  if (formatView(view) === location.hash) return;
  history.pushState(state, '', formatView(view));
  dispatchEvent(new Event('viewchange'));
}

/** Puts a view in the place of this one. @param {View} view */
export function replace(view) {
  history.replaceState(history.state, '', formatView(view));
  dispatchEvent(new Event('viewchange'));
}

/** Calls back whenever the view changed, by the page or by the person. @param {() => void} listener */
export function onViewChange(listener) {
  addEventListener('viewchange', listener);
  // Links and typed addresses as well as back and forward; a change that both tell of is looked at once.
  addEventListener('hashchange', listener);
  addEventListener('popstate', listener);
}

/** The arguments of the list's question, and whether it is about beliefs alone. @param {View} view @returns {Record<string, unknown>} */
export function listVariables({ list, filter, ceiling }) {
  /** @type {Record<string, unknown>} */
  const variables = { ceiling: (ceiling || 'public').toUpperCase() };
  if (filter.status === 'all') variables.statuses = STATUSES.filter((one) => one !== 'candidate').map(upper);
  else if (filter.status) variables.statuses = [upper(filter.status)];
  if (filter.type) variables.beliefTypes = [upper(filter.type)];
  if (filter.kind) variables.beliefsAlone = true;
  if (filter.sensitivity) variables.sensitivities = [upper(filter.sensitivity)];
  if (filter.subject.trim()) variables.subject = filter.subject.trim();
  if (filter.session.trim()) variables.sessionId = filter.session.trim();
  if (filter.text.trim()) variables.text = filter.text.trim();
  if (list === 'review' || filter.review) variables.flagged = list === 'review' || filter.review === 'flagged';
  if (filter.confidenceMin) variables.confidenceMin = Number(filter.confidenceMin);
  if (filter.confidenceMax) variables.confidenceMax = Number(filter.confidenceMax);
  if (filter.formedAfter) variables.formedAfter = `${filter.formedAfter}T00:00:00.000000Z`;
  if (filter.formedBefore) variables.formedBefore = `${filter.formedBefore}T00:00:00.000000Z`;
  return variables;
}

/**
 * Whether what was changed still belongs on the list, as far as a change can tell: its status and its flag. A derived
 * record that is retired is on none.
 * @param {{status: string, flaggedForReview: boolean, recordKind?: string}} memory
 * @param {View} view
 */
export function stillListed(memory, view) {
  if (memory.recordKind && memory.status === 'RETIRED') return false;
  const { statuses = ['ACTIVE', 'PROVISIONAL'], flagged } = listVariables(view);
  if (!(/** @type {string[]} */ (statuses).includes(memory.status))) return false;
  return flagged === undefined || flagged === memory.flaggedForReview;
}

/** @param {string} value */
function upper(value) {
  return value.toUpperCase();
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
