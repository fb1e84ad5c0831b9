// @ts-check
/**
 * <memory-overview>: what is believed about a person at a glance. Every part of a picture that a filter exists for is
 * a link into the list.
 */

import { html } from '../dom.js';
import { monthText, numberText, text } from '../texts.js';
import { confidenceText } from '../wording.js';
import { bars, columns, divided, dots, ring } from './charts.js';
import { monthsByYear } from './months.js';
import { monthName } from './times.js';

/** The step of a confidence: a band ends one below the next, as both bounds of the filter are included. */
const BAND_STEP = 0.001;
const SOFT_HYPHEN = '\u00ad';

/**
 * The counts as MemoryOverview answers them.
 * @typedef {object} Overview
 * @property {{status: string, count: number}[]} statuses
 * @property {{beliefType: string, count: number}[]} beliefTypes
 * @property {{sensitivity: string, count: number}[]} sensitivities
 * @property {{minimum: number, maximum: number, count: number}[]} confidenceBands
 * @property {{month: string, count: number}[]} months
 * @property {number} flaggedForReview
 */

/** @typedef {(filter: Partial<import('../view.js').Filter>) => string} LinkTo the address of the list with this filter */

export class MemoryOverview extends HTMLElement {
  /**
   * Draws the counts.
   * @param {{overview: Overview, ceiling: string, linkTo: LinkTo}} shown
   */
  show({ overview, ceiling, linkTo }) {
    const live = overview.beliefTypes.reduce((sum, { count }) => sum + count, 0);
    const any = overview.statuses.some(({ count }) => count > 0);
    const cards = live > 0 ? liveCards(overview, live, linkTo) : [];
    if (any) cards.push(statusCard(overview, linkTo));
    const grid = html('div', { class: 'overview', testid: 'overview' }, headline(live, ceiling), ...cards);
    this.replaceChildren(grid);
  }
}

/** @param {Overview} overview @param {number} live @param {LinkTo} linkTo */
function liveCards(overview, live, linkTo) {
  return [
    typesCard(overview, live, linkTo),
    reviewCard(overview, live, linkTo),
    confidenceCard(overview, linkTo),
    sensitivityCard(overview, linkTo),
    monthsCard(overview, linkTo),
  ];
}

/**
 * A part of a picture; without a filter, or with nothing in it, it leads nowhere.
 * @param {string} label @param {number} count @param {string | undefined} href @param {string} tone @param {string} [spoken]
 * @returns {import('./charts.js').Part}
 */
function part(label, count, href, tone, spoken = label) {
  const name = text('overview.item', { name: spoken, count });
  return { label, name, count, number: numberText(count), tone, href: count > 0 ? href : undefined };
}

/** @param {string} name @param {string} title @param {string} lead @param {...Node} children */
function card(name, title, lead, ...children) {
  const heading = html('h3', { class: 'card-title', id: `overview-${name}` }, title);
  const words = html('p', { class: 'card-lead' }, lead);
  return html('section', { class: `card card-${name}`, 'aria-labelledby': `overview-${name}` }, heading, words, ...children);
}

/** @param {number} live @param {string} ceiling */
function headline(live, ceiling) {
  const sentence = live === 0 ? text('overview.empty') : text('overview.headline', { count: live });
  const [before, after] = sentence.split(numberText(live));
  const heading = html('h2', { class: 'headline' });
  if (after === undefined) heading.append(sentence);
  else heading.append(before, html('span', { class: 'headline-number' }, numberText(live)), after);
  const words = text('overview.under', { level: text(`sensitivity.${ceiling.toUpperCase()}`) });
  return html('header', { class: 'overview-head' }, heading, html('p', { class: 'overview-under' }, words));
}

/** @param {Overview} overview @param {number} live @param {LinkTo} linkTo */
function typesCard({ beliefTypes }, live, linkTo) {
  const parts = beliefTypes.map(({ beliefType, count }, index) =>
    part(text(`overview.kind.${beliefType}`), count, linkTo({ type: beliefType.toLowerCase() }), `tone-${index + 1}`),
  );
  const middle = html('p', { 'aria-hidden': 'true' }, html('span', { class: 'ring-number' }, numberText(live)), text('overview.total', { count: live }));
  return card('types', text('overview.by_type'), text('overview.by_type_help'), ring(parts, middle));
}

/** @param {Overview} overview @param {number} live @param {LinkTo} linkTo */
function reviewCard({ flaggedForReview: flagged }, live, linkTo) {
  const { drawing, worth } = dots(live, flagged);
  const title = text('nav.review');
  if (flagged === 0) return card('review', title, text('overview.review_none'), drawing);
  const scale = html('p', { class: 'card-scale' }, text('overview.dots', { count: worth }));
  const words = text('overview.review', { count: flagged });
  const link = html(
    'a',
    { class: 'review-link', href: linkTo({ review: 'flagged' }) },
    html('strong', { class: 'review-number' }, numberText(flagged)),
    ' ',
    html('span', {}, words),
  );
  return card('review', title, text('overview.review_help'), html('div', { class: 'review-picture' }, link, drawing, scale));
}

/** @param {Overview} overview @param {LinkTo} linkTo */
function confidenceCard({ confidenceBands }, linkTo) {
  const parts = confidenceBands.map(({ minimum, maximum, count }, band) => {
    const top = band === confidenceBands.length - 1 ? maximum : maximum - BAND_STEP;
    const filters = { confidenceMin: String(minimum), confidenceMax: String(Number(top.toFixed(3))) };
    const range = confidenceText(minimum, maximum);
    const word = text(`overview.band.${band}`);
    return { ...part(word, count, linkTo(filters), `tone-band-${band + 1}`, `${word.replaceAll(SOFT_HYPHEN, '')}, ${range}`), note: range };
  });
  return card('confidence', text('overview.by_confidence'), text('overview.by_confidence_help'), columns(parts));
}

/** @param {Overview} overview @param {LinkTo} linkTo */
function sensitivityCard({ sensitivities }, linkTo) {
  const parts = sensitivities.map(({ sensitivity, count }) =>
    part(text(`sensitivity.${sensitivity}`), count, linkTo({ sensitivity: sensitivity.toLowerCase() }), `tone-${sensitivity.toLowerCase()}`),
  );
  return card('sensitivities', text('overview.by_sensitivity'), text('overview.by_sensitivity_help'), bars(parts));
}

/** @param {Overview} overview @param {LinkTo} linkTo */
function monthsCard({ months }, linkTo) {
  const most = Math.max(1, ...months.map(({ count }) => count));
  const years = monthsByYear(months).map(({ year, months: within }) => {
    const parts = within.map(({ month, count, after, before }) => {
      const href = linkTo({ formedAfter: after, formedBefore: before });
      return part(monthName(month), count, href, 'tone-month', monthText(month));
    });
    return html('li', { class: 'year' }, html('span', { class: 'year-name' }, year), columns(parts, most));
  });
  const room = html('div', { class: 'months-room' }, html('ol', { class: 'years', role: 'list' }, ...years));
  showEnd(room);
  return card('months', text('overview.by_month'), text('overview.by_month_help'), room);
}

/** Scrolls to the latest month once the room has a width: it is filled while it is still hidden. @param {HTMLElement} room */
function showEnd(room) {
  const watch = new ResizeObserver(() => {
    if (room.clientWidth === 0) return;
    watch.disconnect();
    room.scrollLeft = room.scrollWidth * (getComputedStyle(room).direction === 'rtl' ? -1 : 1);
  });
  watch.observe(room);
}

/** @param {Overview} overview @param {LinkTo} linkTo */
function statusCard({ statuses }, linkTo) {
  const parts = statuses.map(({ status, count }) =>
    part(text(`status.${status}`), count, linkTo({ status: status.toLowerCase() }), `tone-${status.toLowerCase()}`),
  );
  return card('statuses', text('overview.by_status'), text('overview.by_status_help'), divided(parts));
}

customElements.define('memory-overview', MemoryOverview);
