// @ts-check
/** The frame of the page once somebody is signed in: the navigation, the level of privacy on top, and room for the parts. */
import { html } from '../dom.js';
import { icon } from '../icons.js';
import { language, text } from '../texts.js';
import { filterOf, formatView } from '../view.js';
import './ceiling-choice.js';
import './list-page.js';
import './memory-detail.js';
import './overview-page.js';

/** @typedef {'memories' | 'review' | 'overview'} Section */
/**
 * @typedef {object} Shell
 * @property {any} list the page of the list
 * @property {any} overview the page of the overview
 * @property {any} detail the belief that is open
 * @property {any} ceiling the choice of the level
 * @property {Record<Section, any>} links
 * @property {HTMLElement} main
 * @property {string} language that it is written in
 * @property {Node[]} content what stands in the page
 */

/** @param {{onSettings: () => void}} options @returns {Shell} */
export function buildShell({ onSettings }) {
  const list = html('list-page');
  const overview = html('overview-page', { hidden: true });
  const detail = html('memory-detail', { tabindex: '-1', 'aria-label': text('detail.label'), role: 'region', hidden: true });
  const ceiling = html('ceiling-choice');
  const links = {
    memories: sectionLink('memories', 'sidebar.memory'),
    review: sectionLink('review', 'nav.review'),
    overview: sectionLink('overview', 'nav.overview'),
  };
  const settings = html(
    'button',
    { type: 'button', class: 'nav-item', testid: 'nav.settings', onclick: onSettings },
    icon('settings'),
    html('span', { class: 'nav-label' }, text('nav.settings')),
  );
  const main = html('main', { class: 'main', id: 'main', tabindex: '-1' }, list, overview);
  const content = [
    html('button', { type: 'button', class: 'skip', onclick: () => main.focus() }, text('app.skip')),
    html(
      'nav',
      { class: 'sidebar', 'aria-label': text('app.navigation') },
      html('p', { class: 'brand', 'aria-hidden': 'true' }, html('span', { class: 'brand-mark' }, icon('memories')), text('app.name')),
      html('ul', {}, [...Object.values(links), settings].map((item) => html('li', {}, item))),
    ),
    html('div', { class: 'stage' }, html('header', { class: 'topbar' }, ceiling), html('div', { class: 'columns' }, main, detail)),
  ];
  return { list, overview, detail, ceiling, links, main, language: language(), content };
}

/** @param {Section} section @param {string} testid */
function sectionLink(section, testid) {
  const count = section === 'review' ? html('span', { class: 'nav-count', testid: 'review.count', hidden: true }) : null;
  return html('a', { class: 'nav-item', testid }, icon(section), html('span', { class: 'nav-label' }, text(`nav.${section}`)), count);
}

/**
 * Brings the links in line with where the person is, and tells how much waits for review.
 * @param {Shell} shell
 * @param {import('../view.js').View} view
 * @param {number | null} reviewCount
 */
export function showNavigation({ links }, view, reviewCount) {
  const here = view.place === 'memory' ? view.list : view.place;
  for (const [section, link] of Object.entries(links)) {
    link.setAttribute('href', formatView({ ...view, place: /** @type {Section} */ (section), id: '', filter: filterOf() }));
    if (section === here) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  const badge = links.review.querySelector('.nav-count');
  badge.hidden = !reviewCount;
  badge.replaceChildren(
    html('span', { 'aria-hidden': 'true' }, reviewCount ?? ''),
    html('span', { class: 'visually-hidden' }, reviewCount ? text('nav.review_count', { count: reviewCount }) : ''),
  );
}
