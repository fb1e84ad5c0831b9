// @ts-check
/** The evidence in words: each record, and beneath it those that it rests on. */
import { html } from '../dom.js';
import { isDerived } from '../items.js';
import { text } from '../texts.js';

/** @typedef {import('../evidence.js').Evidence} Evidence */
/** @typedef {{linkTo: (id: string) => string}} Links */

/** What kind of record it is, as a key of the texts and of the icons. @param {any} item */
export function kindOf(item) {
  return isDerived(item) ? item.recordKind : 'BELIEF';
}

/** @param {Evidence} evidence @param {Links} links */
export function nestedList(evidence, links) {
  const told = new Set();
  return html('ul', { class: 'evidence-tree' }, evidence.columns[0].map(({ item }) => entry(evidence, item.id, links, told)));
}

/** @param {Evidence} evidence @param {string} id @param {Links} links @param {Set<string>} told @returns {any} */
function entry(evidence, id, links, told) {
  const { item, targets, hidden } = /** @type {import('../evidence.js').EvidenceNode} */ (evidence.nodes.get(id));
  const again = told.has(id) && targets.length > 0;
  told.add(id);
  const rests = again ? [] : targets.map((target) => entry(evidence, target, links, told));
  return html(
    'li',
    {},
    html('span', { class: 'evidence-kind' }, text(`derived.kind.${kindOf(item)}`)),
    ' ',
    html('a', { href: links.linkTo(id) }, html('bdi', { dir: 'auto' }, item.statement)),
    again ? html('span', { class: 'help' }, ' ', text('evidence.told')) : null,
    hidden > 0 ? html('span', { class: 'help' }, ' ', text('evidence.hidden', { count: hidden })) : null,
    rests.length > 0 ? html('ul', {}, rests) : null,
  );
}
