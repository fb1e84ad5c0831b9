// @ts-check
/**
 * The moments in the life of a belief, in order and by day, and how long it holds. Pure: no DOM and no clock.
 */

/**
 * One moment: what happened, and when.
 * @typedef {object} Moment
 * @property {string} kind  the last part of its text's key
 * @property {Date} at
 */

/**
 * The moments of one day, the earliest first.
 * @typedef {object} Day
 * @property {Date} at      the earliest of them
 * @property {Moment[]} moments
 */

/**
 * How long a belief holds: `open` (no end is known), `expires` (it will run out) or `ended`.
 * @typedef {{kind: 'open' | 'expires' | 'ended', from: Date, to: Date | null}} Validity
 */

/** Fields in the order in which they happen where their times are the same. */
const FIELDS = /** @type {const} */ ([
  ['lastEvidenceAt', 'evidence'],
  ['createdAt', 'created'],
  ['validFrom', 'valid_from'],
  ['lastReinforcedAt', 'reinforced'],
  ['lastUsedAt', 'used'],
  ['updatedAt', 'updated'],
  ['validTo', 'valid_to'],
  ['expiresAt', 'expires'],
]);

/**
 * Every moment that the belief tells of, in order of time. A last change that is its formation is no moment of its own.
 * @param {Record<string, any>} memory a belief as MemoryDetail answers it
 * @param {Date} now
 * @returns {Moment[]}
 */
export function momentsOf(memory, now) {
  const told = FIELDS.filter(([field]) => memory[field]).map(([field, kind]) => ({ kind, at: new Date(memory[field]) }));
  const formed = new Date(memory.createdAt).getTime();
  return told
    .filter((moment) => moment.kind !== 'updated' || moment.at.getTime() !== formed)
    .map((moment) => ({ ...moment, kind: tense(moment, now) }))
    .sort((one, other) => one.at.getTime() - other.at.getTime());
}

/** @param {Moment} moment @param {Date} now */
function tense({ kind, at }, now) {
  if (kind === 'expires' && at <= now) return 'expired';
  if (kind === 'valid_to' && at > now) return 'valid_to_ahead';
  return kind;
}

/**
 * Moments gathered by the calendar day of the person who looks.
 * @param {Moment[]} moments in order of time
 * @returns {Day[]}
 */
export function byDay(moments) {
  /** @type {Day[]} */
  const days = [];
  for (const moment of moments) {
    const last = days.at(-1);
    if (last !== undefined && last.at.toDateString() === moment.at.toDateString()) last.moments.push(moment);
    else days.push({ at: moment.at, moments: [moment] });
  }
  return days;
}

/**
 * Since when a belief holds, and until when.
 * @param {Record<string, any>} memory
 * @param {Date} now
 * @returns {Validity}
 */
export function validityOf(memory, now) {
  const from = new Date(memory.validFrom);
  const ends = [memory.validTo, memory.expiresAt].filter(Boolean).map((text) => new Date(text).getTime());
  if (ends.length === 0) return { kind: 'open', from, to: null };
  const to = new Date(Math.min(...ends));
  return { kind: to > now ? 'expires' : 'ended', from, to };
}
