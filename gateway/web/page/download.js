// @ts-check
/** Everything that is believed, as one file, by walking the pages of the API as any client would. */
import { ApiError } from './api.js';

const STATUSES = ['PROVISIONAL', 'ACTIVE', 'SUPERSEDED', 'EXPIRED', 'RETIRED'];
const WAITS_MAX = 20;
const WAIT_SECONDS_MAX = 10;
/** What passes by itself: the server asks to wait, or can't be reached. */
const PASSING = new Set(['limited', 'offline']);

/**
 * Collects every belief up to a ceiling, past ones too.
 * @param {(name: string, variables: object, options: object) => Promise<any>} ask
 * @param {string} ceiling
 * @param {{signal: AbortSignal, onProgress: (count: number) => void, onWait: (because: ApiError) => void}} options
 * @returns {Promise<any[]>}
 * @throws {ApiError}
 */
export async function collect(ask, ceiling, { signal, onProgress, onWait }) {
  /** @type {Map<string, any>} */
  const memories = new Map();
  const cursors = new Set();
  /** @type {string | null} */
  let after = null;
  do {
    const variables = { ceiling: ceiling.toUpperCase(), statuses: STATUSES, ...(after ? { after } : {}) };
    const page = await patiently(() => ask('MemoryDownload', variables, { signal }), signal, onWait);
    for (const memory of page.memories.nodes) memories.set(memory.id, memory);
    onProgress(memories.size);
    after = page.memories.pageInfo.hasNextPage ? page.memories.pageInfo.endCursor : null;
    if (after !== null && cursors.has(after)) throw new ApiError('failed');
    cursors.add(after);
  } while (after !== null);
  return [...memories.values()];
}

/** Hands a file to the person. @param {any[]} memories @param {string} ceiling */
export function save(memories, ceiling) {
  const content = JSON.stringify({ ceiling, downloaded_at: new Date().toISOString(), memories }, null, 2);
  const address = URL.createObjectURL(new Blob([content], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = `beliefs-${new Date().toISOString().slice(0, 10)}.json`;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/**
 * Tries until it succeeds, longer and longer apart, unless it can't or the waits are used up.
 * @param {() => Promise<any>} attempt
 * @param {AbortSignal} signal
 * @param {(because: ApiError) => void} onWait
 */
async function patiently(attempt, signal, onWait) {
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
