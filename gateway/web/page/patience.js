// @ts-check
/** Trying until it succeeds, as long as what is in the way passes by itself. */
import { ApiError } from './api.js';

const WAITS_MAX = 20;
const WAIT_SECONDS_MAX = 10;
/** What passes by itself: the server asks to wait, or can't be reached. */
const PASSING = new Set(['limited', 'offline']);

/**
 * Tries until it succeeds, longer and longer apart, unless it can't or the waits are used up.
 * @param {() => Promise<any>} attempt
 * @param {AbortSignal} signal
 * @param {(because: ApiError) => void} onWait
 */
export async function patiently(attempt, signal, onWait) {
  for (let waited = 0; ; waited += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ApiError) || !PASSING.has(error.kind) || waited === WAITS_MAX) throw error;
      onWait(error);
      await pause((error.retryAfterSeconds ?? Math.min(2 ** waited, WAIT_SECONDS_MAX)) * 1000, signal);
    }
  }
}

/** @param {number} milliseconds @param {AbortSignal} signal @returns {Promise<void>} */
function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
