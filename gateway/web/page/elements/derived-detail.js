// @ts-check
/** A derived record in detail: what it says, part by part, what each part rests on, and how it was come by. */
import { html } from '../dom.js';
import { icon } from '../icons.js';
import { isShell } from '../items.js';
import { dayText, momentText, text } from '../texts.js';
import { fact, keyFact, meter, moment, section } from './facts.js';
import { linkedCard, unnamedCard } from './linked-items.js';
import { derivedChip, sensitivityBadge } from './memory-row.js';

/** @typedef {import('./memory-detail.js').DetailContext} DetailContext */
/** @typedef {Map<string, any> | null} Names what the sources say, by id, as far as it is known */

/** @param {any} record */
export function derivedHeading(record) {
  const shell = isShell(record);
  const statement = shell ? text('derived.gone.title') : html('bdi', { dir: 'auto' }, record.statement);
  return html(
    'header',
    { class: 'detail-head' },
    html('p', { class: 'detail-lead' }, text(shell ? 'derived.lead.gone' : `derived.lead.${record.recordKind}`)),
    html('h2', { class: shell ? 'detail-heading' : 'detail-heading derived', tabindex: '-1' }, statement),
    shell ? html('p', { class: 'derived-gone', testid: 'derived.gone' }, text('derived.gone.text')) : derivedChip(record),
    shell ? null : keyFacts(record),
  );
}

/** @param {any} record */
function keyFacts(record) {
  const { subject, confidence, expiresAt, sensitivity } = record;
  return html(
    'dl',
    { class: 'key-facts' },
    keyFact('detail.about', html('bdi', { dir: 'auto' }, subject)),
    keyFact('detail.sure', meter(confidence)),
    keyFact('timeline.expires', [
      expiresAt ? html('time', { datetime: expiresAt, title: momentText(expiresAt) }, dayText(expiresAt)) : text('derived.no_end'),
      html('small', {}, text('derived.end_help')),
    ]),
    keyFact('detail.privacy', [sensitivityBadge(sensitivity), html('small', {}, text(`sensitivity_shown.${sensitivity}`))]),
  );
}

/**
 * What it says and what that rests on, and what was left out.
 * @param {any} record
 * @param {Names} names
 * @param {DetailContext} context
 */
export function clauseSections(record, names, context) {
  const numbers = new Map(record.sourceIds.map((/** @type {string} */ id, /** @type {number} */ index) => [id, index + 1]));
  /** @param {string} id */
  const card = (id) => {
    const item = names?.get(id);
    if (item && !isShell(item)) return linkedCard(item, context);
    return unnamedCard(id, text('derived.source_number', { number: numbers.get(id) ?? 0 }), context);
  };
  const omitted = record.sources.filter((/** @type {any} */ source) => source.omitted);
  return [
    html(
      'section',
      { class: 'detail-section', testid: 'derived.clauses' },
      html('h3', {}, text('derived.clauses')),
      html('p', { class: 'help' }, text(`derived.clauses_help.${record.recordKind}`)),
      html('ol', { class: 'clauses' }, record.clauses.map((/** @type {any} */ clause) => clauseItem(clause, names, card))),
    ),
    omitted.length > 0 &&
      html(
        'section',
        { class: 'detail-section', testid: 'derived.omitted' },
        html('h3', {}, text('derived.omitted')),
        html('p', { class: 'help' }, text('derived.omitted_help')),
        html('ul', { class: 'linked' }, omitted.map((/** @type {any} */ source) => card(source.id))),
      ),
  ].filter(Boolean);
}

/** @param {any} clause @param {Names} names @param {(id: string) => any} card */
function clauseItem({ text: words, sourceIds }, names, card) {
  const cards = html('ul', { class: 'linked' }, sourceIds.map(card));
  // Where one source says just this, it stands for itself.
  if (sourceIds.length === 1 && names?.get(sourceIds[0])?.statement === words) return html('li', { class: 'clause' }, cards);
  return html(
    'li',
    { class: 'clause' },
    html('p', { class: 'clause-text' }, html('bdi', { dir: 'auto' }, words)),
    html('p', { class: 'clause-rests' }, icon('evidence'), text('derived.rests_on', { count: sourceIds.length })),
    cards,
  );
}

/** How it was come by, and what only an engineer asks for. @param {any} record */
export function derivedFacts(record) {
  const day = (/** @type {string} */ at) => html('time', { datetime: at, title: momentText(at) }, dayText(at));
  const shell = isShell(record);
  return [
    section('derived.origin', [
      fact('derived.created', day(record.createdAt)),
      shell ? fact('derived.retired', day(record.updatedAt)) : null,
      shell ? null : fact('derived.authority', text(`authority.${record.authority}`)),
      shell ? null : fact('detail.scope', html('bdi', { dir: 'auto' }, record.scope)),
      shell ? null : fact('detail.portability', text(`portability.${record.portability}`)),
    ]),
    html(
      'details',
      { class: 'detail-section technical' },
      html('summary', {}, text('detail.technical')),
      html(
        'dl',
        { class: 'facts' },
        fact('detail.id', html('code', {}, record.id)),
        fact('derived.revision', record.revision),
        moment('derived.created', record.createdAt),
        moment('timeline.valid_from', record.validFrom),
        moment('timeline.evidence', record.lastEvidenceAt),
        moment('timeline.expires', record.expiresAt),
        moment('timeline.updated', record.updatedAt),
      ),
    ),
  ];
}
