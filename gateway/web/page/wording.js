// @ts-check
/** What the server says in its own terms, said in the words of the catalogue. */
import { listText, locale, text } from './texts.js';

/** From which confidence on each word holds, the least sure first. */
const SURE_FROM = [0, 0.2, 0.4, 0.6, 0.8, 0.95];

/** How sure the system is, in words. @param {number} confidence */
export function sureWords(confidence) {
  return text(`sure.${SURE_FROM.findLastIndex((from) => confidence >= from)}`);
}

/** A confidence as a percentage, or those from one to another. @param {number} from @param {number} [to] */
export function confidenceText(from, to = from) {
  const format = new Intl.NumberFormat(locale(), { style: 'percent', maximumFractionDigits: 1 });
  return from === to ? format.format(from) : format.formatRange(from, to);
}

/** In words and as a number: “fairly sure (82%)”. @param {number} confidence */
export function sureText(confidence) {
  return text('sure.value', { words: sureWords(confidence), value: confidenceText(confidence) });
}

/** Of what kind a belief is, or of what kinds those behind a derived record are. @param {any} memory */
export function kindsText({ beliefType, beliefTypes = [beliefType] }) {
  return listText(beliefTypes.map((/** @type {string} */ type) => text(`type.${type}`)));
}

/** Whether the belief is one that is used now. @param {{status: string}} memory */
export function isLive(memory) {
  return memory.status === 'ACTIVE' || memory.status === 'PROVISIONAL';
}

/**
 * Whether the person said “not relevant here” and the belief still waits for review, as the server keeps it.
 * @param {{portability?: string, flaggedForReview: boolean}} memory
 */
export function isKeptHere(memory) {
  return memory.flaggedForReview && memory.portability === 'LOCAL';
}

/** Why something failed, as one sentence. @param {import('./api.js').ApiError} error */
export function reasonText(error) {
  return text(`reason.${error.kind}`);
}
