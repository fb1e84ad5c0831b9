// @ts-check
/** What a person says of a belief, brought to the server once: each act has a key of its own, kept over its retries. */
import { ApiError } from './api.js';
import { isDerived, itemOf } from './items.js';

/** @typedef {'dismiss' | 'untrue' | 'not_here' | 'delete'} ActKind */
/**
 * @typedef {object} Act
 * @property {ActKind} kind
 * @property {string} id
 * @property {boolean} ofDerived whether it is about a derived record
 * @property {string} ceiling
 * @property {string} key the idempotency key
 */
/**
 * @typedef {object} Outcome
 * @property {Act} act
 * @property {any} [memory] the belief or derived record as it stands now, after a review
 * @property {ApiError} [error]
 */

const TRIES_MAX = 3;
const WAIT_MILLISECONDS = 700;
const WAIT_SECONDS_MAX = 10;

/** A new decision of the person. @param {ActKind} kind @param {any} memory @param {string} ceiling @returns {Act} */
export function newAct(kind, memory, ceiling) {
  return { kind, id: memory.id, ofDerived: isDerived(memory), ceiling: ceiling.toUpperCase(), key: freshKey() };
}

/**
 * Carries an act out; without an answer it is sent again with the same key, so it applies once.
 * @param {(name: string, variables: object) => Promise<any>} ask
 * @param {Act} act
 * @param {() => void} [onRetry] told before each further try
 * @returns {Promise<Outcome>} never rejects
 */
export async function carryOut(ask, act, onRetry = () => {}) {
  for (let tried = 1; ; tried += 1) {
    try {
      return { act, memory: await send(ask, act) };
    } catch (error) {
      const known = error instanceof ApiError ? error : new ApiError('failed');
      if (tried === TRIES_MAX || !isPassing(known)) return { act, error: known };
      onRetry();
      await wait(known, tried);
    }
  }
}

/**
 * Carries several acts out, one after the other, and tells of each.
 * @param {(name: string, variables: object) => Promise<any>} ask
 * @param {Act[]} acts
 * @param {(outcome: Outcome, done: number) => void} onDone
 * @returns {Promise<Outcome[]>} those that failed; those never tried, because none could succeed any more, included
 */
export async function carryOutAll(ask, acts, onDone) {
  /** @type {Outcome[]} */
  const failed = [];
  for (const [index, act] of acts.entries()) {
    const outcome = await carryOut(ask, act);
    // What was erased with another one that says the same is gone as it should be.
    if (outcome.error && !(act.kind === 'delete' && outcome.error.kind === 'not_found')) failed.push(outcome);
    onDone(outcome, index + 1);
    if (outcome.error && isFinal(outcome.error)) {
      return [...failed, ...acts.slice(index + 1).map((rest) => ({ act: rest, error: outcome.error }))];
    }
  }
  return failed;
}

/**
 * @param {(name: string, variables: object) => Promise<any>} ask
 * @param {Act} act
 */
async function send(ask, { kind, id, ofDerived, ceiling, key }) {
  if (kind === 'delete') {
    await ask('DeleteMemory', { input: { id, ceiling, idempotencyKey: key } });
    return null;
  }
  const outcome = kind.toUpperCase();
  const { reviewMemory: said } = await ask(ofDerived ? 'ReviewDerived' : 'ReviewMemory', {
    input: { id, ceiling, outcome, idempotencyKey: key },
  });
  if (ofDerived) return said?.derivedMemory ? itemOf(said.derivedMemory) : null;
  return said?.memory ?? null;
}

/** Whether the same may succeed a little later. @param {ApiError} error */
function isPassing(error) {
  return error.kind === 'offline' || error.kind === 'limited' || error.kind === 'failed';
}

/** Whether no other act can succeed either. @param {ApiError} error */
function isFinal(error) {
  return ['unauthenticated', 'forbidden', 'unsupported', 'offline'].includes(error.kind);
}

/** @param {ApiError} error @param {number} tried */
function wait(error, tried) {
  const milliseconds =
    error.retryAfterSeconds === undefined
      ? WAIT_MILLISECONDS * tried
      : Math.min(error.retryAfterSeconds, WAIT_SECONDS_MAX) * 1000;
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** A key nobody used before. `randomUUID` is there on secure pages only; a gateway at home may be met without TLS. */
function freshKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
