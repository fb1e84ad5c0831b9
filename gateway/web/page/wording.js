// @ts-check
/** What the server says in its own terms, said in the words of the catalogue. */
import { numberText, text } from './texts.js';

/** From which confidence on each word holds, the least sure first. */
const SURE_FROM = [0, 0.2, 0.4, 0.6, 0.8, 0.95];

/** How sure the system is, in words. @param {number} confidence */
export function sureWords(confidence) {
  return text(`sure.${SURE_FROM.findLastIndex((from) => confidence >= from)}`);
}

/** @param {number} confidence */
export function confidenceText(confidence) {
  return numberText(confidence, { minimumFractionDigits: 0, maximumFractionDigits: 3 });
}

/** In words and as a number: “fairly sure (0.82)”. @param {number} confidence */
export function sureText(confidence) {
  return text('sure.value', { words: sureWords(confidence), value: confidenceText(confidence) });
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
