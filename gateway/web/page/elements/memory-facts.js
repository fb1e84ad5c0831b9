// @ts-check
/** The sections of facts below a belief: where it comes from, what it means, and what only an engineer asks for. */
import { html } from '../dom.js';
import { dayText, listText, momentText, numberText, text } from '../texts.js';
import { fact, moment, section } from './facts.js';

/** @typedef {import('./memory-detail.js').DetailContext} DetailContext */

/** @param {any} memory @param {DetailContext} context */
export function factSections(memory, context) {
  return [source(memory, context), meaning(memory), technical(memory)];
}

/** @param {any} memory @param {DetailContext} context */
function source(memory, context) {
  return section('detail.source', [
    fact('detail.authority', text(`authority.${memory.authority}`)),
    fact('detail.derivation', text(`derivation.${memory.derivation}`)),
    fact('timeline.created', html('time', { datetime: memory.createdAt, title: momentText(memory.createdAt) }, dayText(memory.createdAt))),
    fact('detail.corroboration', text('detail.corroboration_times', { count: memory.corroborationCount })),
    fact('detail.scope', bidi(memory.scope)),
    memory.originScopes.length > 0 ? fact('detail.origins', bidi(listText(memory.originScopes))) : null,
    fact('detail.session', [
      html('code', {}, memory.sourceSessionId),
      html('a', { class: 'more-link', href: context.sessionLink(memory.sourceSessionId) }, text('detail.session_link')),
    ]),
    fact('detail.events', events(memory.sourceEventIds)),
  ]);
}

/** @param {number[]} numbers */
function events(numbers) {
  if (numbers.length === 0) return text('detail.events_none');
  const words = listText(numbers.map((number) => numberText(number, { useGrouping: false })));
  return text('detail.event_numbers', { count: numbers.length, numbers: words });
}

/** @param {any} memory */
function meaning(memory) {
  return section('detail.meaning', [
    fact('detail.kind', text(`type.${memory.beliefType}`)),
    fact('detail.claim', text(`claim.${memory.claimKind}`)),
    fact('detail.polarity', text(`detail.polarity.${memory.polarity}`)),
    fact('detail.longevity', text(`longevity.${memory.longevity}`)),
    fact('detail.portability', text(`portability.${memory.portability}`)),
  ]);
}

/** @param {any} memory */
function technical(memory) {
  return html(
    'details',
    { class: 'detail-section technical' },
    html('summary', {}, text('detail.technical')),
    html(
      'dl',
      { class: 'facts' },
      fact('detail.id', html('code', {}, memory.id)),
      memory.formationRunId ? fact('detail.formation_run', html('code', {}, memory.formationRunId)) : null,
      memory.consolidationPolicyVersion ? fact('detail.policy', html('code', {}, memory.consolidationPolicyVersion)) : null,
      moment('timeline.created', memory.createdAt),
      moment('timeline.valid_from', memory.validFrom),
      moment('timeline.valid_to', memory.validTo),
      moment('timeline.expires', memory.expiresAt),
      moment('timeline.evidence', memory.lastEvidenceAt),
      moment('timeline.reinforced', memory.lastReinforcedAt),
      moment('timeline.used', memory.lastUsedAt),
      moment('timeline.updated', memory.updatedAt),
    ),
  );
}

/** @param {string} words */
function bidi(words) {
  return html('bdi', { dir: 'auto' }, words);
}
