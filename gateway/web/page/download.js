// @ts-check
/** Everything that is believed, as one file, by walking the pages of the API as any client would. */
import { ApiError } from './api.js';
import { patiently } from './patience.js';

const STATUSES = ['PROVISIONAL', 'ACTIVE', 'SUPERSEDED', 'EXPIRED', 'RETIRED'];

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
