// @ts-check
/** Beliefs and derived records that another one names: each as a card that leads to it. */
import { html } from '../dom.js';
import { metaLine } from './memory-row.js';

/** @typedef {{linkTo: (id: string) => string}} Links */

/** @param {any[]} items @param {Links} links */
export function linkedList(items, links) {
  return html(
    'ul',
    { class: 'linked' },
    items.map((item) => linkedCard(item, links)),
  );
}

/** @param {any} item @param {Links} links */
export function linkedCard(item, { linkTo }) {
  return html('li', { class: 'linked-memory' }, html('a', { href: linkTo(item.id) }, html('bdi', { dir: 'auto' }, item.statement)), metaLine(item));
}

/** A card for what is known by its id alone. @param {string} id @param {string} words @param {Links} links */
export function unnamedCard(id, words, { linkTo }) {
  return html('li', { class: 'linked-memory' }, html('a', { href: linkTo(id) }, words));
}
