// @ts-check
/** The one way to the server: the page's own documents over POST /graphql, and each failure as one of a few kinds. */

/**
 * @typedef {'offline' | 'unauthenticated' | 'forbidden' | 'unsupported' | 'refused' | 'limited' | 'conflict'
 *   | 'not_found' | 'failed'} ErrorKind
 * offline: no answer came; unsupported: the server does not know what is asked; refused: it won't take this request;
 * limited: later; failed: the server's own fault.
 */

/** What went wrong with a question, told so that the page can say it. */
export class ApiError extends Error {
  /**
   * @param {ErrorKind} kind
   * @param {{code?: string, message?: string, retryAfterSeconds?: number}} [details]
   */
  constructor(kind, { code = '', message = '', retryAfterSeconds } = {}) {
    super(message || kind);
    this.name = 'ApiError';
    this.kind = kind;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** @type {Record<string, ErrorKind>} */
const KINDS = {
  authentication_error: 'unauthenticated',
  authorization_error: 'forbidden',
  not_found: 'not_found',
  retrieval_busy: 'limited',
  method_not_allowed: 'unsupported',
  conflict: 'conflict',
  rate_limited: 'limited',
  unavailable: 'limited',
  request_timeout: 'offline',
  malformed_request: 'refused',
  payload_too_large: 'refused',
  unsupported_media_type: 'refused',
};

/** Labels of documents that the server does not know: an older one, or one with that kind of memory off. */
const UNKNOWN_DOCUMENT = new Set(['GRAPHQL_VALIDATION_FAILED', 'PERSISTED_QUERY_NOT_FOUND']);

/** @type {Promise<Record<string, string>> | null} */
let documents = null;

/**
 * Makes the function that asks with the token of the moment.
 * @param {() => string} token
 * @param {(error: ApiError) => void} [onUnauthenticated] told of each answer that the token is no longer valid
 */
export function createAsk(token, onUnauthenticated = () => {}) {
  /**
   * Asks one operation of the page's documents and gives its `data`.
   * @param {string} name
   * @param {Record<string, unknown>} [variables]
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<any>}
   * @throws {ApiError}
   */
  return async function ask(name, variables = {}, { signal } = {}) {
    const secret = token();
    try {
      const query = (await allDocuments())[name];
      return await exchange(secret, { query, variables, operationName: name }, signal);
    } catch (error) {
      if (error instanceof ApiError && error.kind === 'unauthenticated' && secret === token()) onUnauthenticated(error);
      throw error;
    }
  };
}

async function allDocuments() {
  documents ??= received(new URL('documents.json', import.meta.url), {}).then((response) => {
    // A server of another release no longer has the files of this one: only loading the page again helps.
    if (!response.ok) throw new ApiError('failed');
    return readJson(response);
  });
  try {
    return await documents;
  } catch (error) {
    documents = null;
    throw error;
  }
}

/**
 * @param {string} token
 * @param {{query: string, variables: Record<string, unknown>, operationName: string}} question
 * @param {AbortSignal} [signal]
 */
async function exchange(token, question, signal) {
  const response = await received('/graphql', {
    method: 'POST',
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(question),
    cache: 'no-store',
    signal,
  });
  const answer = await readJson(response, signal);
  const error = answer?.errors?.[0];
  if (error) throw fieldError(error, response);
  if (!response.ok || !answer?.data) throw statusError(response);
  return answer.data;
}

/**
 * @param {string | URL} address
 * @param {RequestInit} options
 */
async function received(address, options) {
  try {
    return await fetch(address, { credentials: 'omit', referrerPolicy: 'no-referrer', ...options });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError('offline');
  }
}

/**
 * @param {Response} response
 * @param {AbortSignal} [signal]
 */
async function readJson(response, signal) {
  try {
    return await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    if (error instanceof SyntaxError) throw statusError(response);
    throw new ApiError('offline');
  }
}

/**
 * @param {{message?: string, path?: unknown[], extensions?: {code?: string, classification?: string}}} error
 * @param {Response} response
 */
function fieldError(error, response) {
  const code = error.extensions?.code ?? '';
  let kind = KINDS[code] ?? statusError(response).kind;
  if (UNKNOWN_DOCUMENT.has(error.extensions?.classification ?? '')) kind = 'unsupported';
  // Without a place in the answer it is the address that was not found, not a belief.
  if (kind === 'not_found' && !error.path) kind = 'unsupported';
  return new ApiError(kind, { code, message: error.message, retryAfterSeconds: retryAfter(response) });
}

/** @param {Response} response */
function statusError(response) {
  /** @type {Record<number, ErrorKind>} */
  const kinds = {
    400: 'refused',
    401: 'unauthenticated',
    403: 'forbidden',
    404: 'unsupported',
    405: 'unsupported',
    408: 'offline',
    409: 'conflict',
    429: 'limited',
    503: 'limited',
  };
  return new ApiError(kinds[response.status] ?? 'failed', { retryAfterSeconds: retryAfter(response) });
}

/** @param {Response} response */
function retryAfter(response) {
  const seconds = Number.parseInt(response.headers.get('retry-after') ?? '', 10);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), 120) : undefined;
}
