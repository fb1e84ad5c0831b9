// @ts-check
/**
 * What is listed: beliefs and, where the server has them, records that were derived from beliefs. Both come in the one
 * shape that a row, an act and the detail take; a derived one has a `recordKind`, and of a retired one nothing is left.
 */
import { ApiError } from './api.js';

/** @typedef {import('./session.js').Session} Session */
/** @typedef {(name: string, variables: object, options?: object) => Promise<any>} Ask */

/**
 * Makes the question of the list: for both kinds only where both are served and wished for.
 * @param {Session} session
 * @returns {(variables: Record<string, unknown>, signal: AbortSignal) => Promise<import('./feed.js').Page>}
 */
export function pageQuestion(session) {
  return async ({ beliefsAlone, ...variables }, signal) => {
    if (beliefsAlone || !session.derivedSupported) return (await session.ask('MemoryList', variables, { signal })).memories;
    const { memoryItems: page } = await session.ask('MemoryItems', variables, { signal });
    return { ...page, edges: page.edges.map((/** @type {any} */ edge) => ({ ...edge, node: itemOf(edge.node) })) };
  };
}

/**
 * How many wait for a review, of both kinds where both are served.
 * @param {Session} session
 * @returns {Promise<number>}
 * @throws {ApiError}
 */
export async function waitingCount(session) {
  const variables = { ceiling: session.ceiling.toUpperCase() };
  if (session.derivedSupported) return (await session.ask('ReviewItemsCount', variables)).memoryItems.totalCount;
  return (await session.ask('ReviewCount', variables)).memoryOverview.flaggedForReview;
}

/** A node of an answer in the one shape. @param {any} node */
export function itemOf(node) {
  if (!node.recordKind) return node;
  const { content, sources = [], ...rest } = node;
  const nothing = { subject: '', statement: '', sensitivity: null, portability: null, confidence: 0 };
  return {
    ...rest,
    ...(content ?? nothing),
    sources,
    sourceIds: sources.map((/** @type {any} */ source) => source.id),
  };
}

/** @param {any} item */
export function isDerived(item) {
  return Boolean(item?.recordKind);
}

/** Whether it is a derived record of which nothing is left. @param {any} item */
export function isShell(item) {
  return isDerived(item) && item.status === 'RETIRED';
}

/**
 * One belief or derived record by its id. Which of the two it is may not be known: what is likelier is asked first.
 * @param {Ask} ask
 * @param {{id: string, ceiling: string, derivedSupported: boolean, derivedFirst: boolean, signal: AbortSignal}} options
 * @returns {Promise<any>}
 * @throws {ApiError}
 */
export async function readItem(ask, { id, ceiling, derivedSupported, derivedFirst, signal }) {
  const variables = { id, ceiling: ceiling.toUpperCase() };
  const belief = async () => found((await ask('MemoryDetail', variables, { signal })).memory);
  const derived = async () => itemOf(found((await ask('DerivedDetail', variables, { signal })).derivedMemory));
  if (!derivedSupported) return belief();
  return eitherOf(derivedFirst ? [derived, belief] : [belief, derived]);
}

/**
 * What the sources of a record say, by id; one that is not there any more has no entry.
 * @param {Ask} ask
 * @param {{ids: string[], ceiling: string, signal: AbortSignal}} options
 * @returns {Promise<Map<string, any>>}
 * @throws {ApiError}
 */
export async function readSources(ask, { ids, ceiling, signal }) {
  /** @param {string} id */
  const read = async (id) => {
    const variables = { id, ceiling: ceiling.toUpperCase() };
    const belief = async () => found((await ask('SourceBelief', variables, { signal })).memory);
    const derived = async () => itemOf(found((await ask('SourceRecord', variables, { signal })).derivedMemory));
    return eitherOf([belief, derived]).catch(nothingIfMissing);
  };
  const items = await Promise.all(ids.map(read));
  return new Map(items.filter(Boolean).map((item) => [item.id, item]));
}

/**
 * Those of some items that were derived from what has these ids, directly or through each other.
 * @param {any[]} items
 * @param {Iterable<string>} ids
 * @returns {string[]}
 */
export function restingOn(items, ids) {
  const changed = new Set(ids);
  /** @type {Set<string>} */
  const resting = new Set();
  for (let before = -1; before < resting.size; ) {
    before = resting.size;
    for (const { id, sourceIds = [] } of items) {
      if (sourceIds.some((/** @type {string} */ source) => changed.has(source) || resting.has(source))) resting.add(id);
    }
  }
  return [...resting];
}

/** @param {(() => Promise<any>)[]} questions the second is asked where the first finds nothing */
async function eitherOf([first, second]) {
  try {
    return await first();
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'not_found') return second();
    throw error;
  }
}

/** @param {unknown} error */
function nothingIfMissing(error) {
  if (error instanceof ApiError && error.kind === 'not_found') return null;
  throw error;
}

/** @param {any} node */
function found(node) {
  if (!node) throw new ApiError('not_found');
  return node;
}
