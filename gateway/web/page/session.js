// @ts-check
/**
 * Who looks, and up to which level of privacy. The token stays in memory; only where the person wants it, the tab's own
 * storage keeps it until the tab is closed. What the server can do is learned once, at sign-in.
 */
import { ApiError, createAsk } from './api.js';

/** @typedef {'public' | 'internal' | 'sensitive' | 'restricted'} Ceiling */

/** The levels of privacy, least private first. @type {readonly Ceiling[]} */
export const CEILINGS = Object.freeze(/** @type {Ceiling[]} */ (['public', 'internal', 'sensitive', 'restricted']));

const STORED_AS = 'belief-browser.session';
const ENDED_AS = 'belief-browser.ended';

/** Events: `changed` (signed in or out, other ceiling, other permissions). */
export class Session extends EventTarget {
  constructor() {
    super();
    this.token = '';
    /** @type {Ceiling} */
    this.ceiling = 'public';
    /** @type {string[]} */
    this.scopes = [];
    /** @type {string[]} */
    this.surfaces = [];
    this.version = '';
    /** Whether the server turned out not to know the mutations. */
    this.writesUnsupported = false;
    /** Why the person is signed out: nothing, '' or the key of a text. */
    this.endedBecause = takeReason();
    this.ask = createAsk(
      () => this.token,
      () => {
        if (this.signedIn) this.end('signin.ended');
      },
    );
  }

  get signedIn() {
    return this.token !== '' && this.version !== '';
  }

  get canRead() {
    return this.scopes.includes('MEMORY_READ');
  }

  /** Whether reviewing and deleting is offered at all. */
  get canWrite() {
    return this.scopes.includes('MEMORY_WRITE') && !this.writesUnsupported;
  }

  get browsingSupported() {
    return this.surfaces.includes('MEMORIES');
  }

  /** Whether what was derived from beliefs is shown, reviewed and deleted. */
  get derivedSupported() {
    return this.browsingSupported && this.surfaces.includes('DERIVED_MEMORIES');
  }

  /** Whether it can be asked what records rest on. */
  get evidenceSupported() {
    return this.browsingSupported && this.surfaces.includes('EVIDENCE');
  }

  /**
   * Takes a token into use if the server takes it.
   * @param {string} token
   * @param {{remember: boolean, ceiling: Ceiling}} options
   * @throws {ApiError}
   */
  async signIn(token, { remember, ceiling }) {
    this.token = token;
    this.ceiling = ceiling;
    try {
      await this.#learn();
    } catch (error) {
      this.token = '';
      this.endedBecause = '';
      throw error;
    }
    if (remember) this.#store();
    this.#tell();
  }

  /** Goes on with what the tab kept; false where it kept nothing. @returns {Promise<boolean>} @throws {ApiError} */
  async resume() {
    const kept = storedSession();
    if (!kept) return false;
    this.token = kept.token;
    this.ceiling = kept.ceiling;
    try {
      await this.#learn();
    } catch (error) {
      if (error instanceof ApiError && error.kind === 'unauthenticated') this.end('signin.ended');
      throw error;
    }
    this.#tell();
    return true;
  }

  /** @param {Ceiling} ceiling */
  setCeiling(ceiling) {
    if (ceiling === this.ceiling) return;
    this.ceiling = ceiling;
    if (storedSession()) this.#store();
    this.#tell();
  }

  /** The server or the token turned out to take no changes: no button for them is shown from now on. */
  withdrawWrites(/** @type {'unsupported' | 'forbidden'} */ reason) {
    if (reason === 'unsupported') this.writesUnsupported = true;
    else this.scopes = this.scopes.filter((scope) => scope !== 'MEMORY_WRITE');
    this.#tell();
  }

  /** Forgets everything. @param {string} because the key of a text for the sign-in page */
  end(because) {
    this.token = '';
    this.version = '';
    this.scopes = [];
    this.surfaces = [];
    this.writesUnsupported = false;
    this.endedBecause = because;
    try {
      sessionStorage.removeItem(STORED_AS);
      sessionStorage.setItem(ENDED_AS, because);
    } catch {
      // A browser that keeps nothing for pages has nothing to forget.
    }
    this.#tell();
  }

  async #learn() {
    const data = await this.ask('Server');
    if (!data.gateway || !data.viewer) throw new ApiError('unsupported');
    this.scopes = data.viewer.scopes;
    this.surfaces = data.gateway.surfaces;
    this.version = data.gateway.version;
    this.endedBecause = '';
  }

  #store() {
    try {
      sessionStorage.setItem(STORED_AS, JSON.stringify({ token: this.token, ceiling: this.ceiling }));
    } catch {
      // A browser that keeps nothing for pages: the token holds until the page is left.
    }
  }

  #tell() {
    this.dispatchEvent(new Event('changed'));
  }
}

/** Why the last session ended, told once. */
function takeReason() {
  try {
    const because = sessionStorage.getItem(ENDED_AS) ?? '';
    sessionStorage.removeItem(ENDED_AS);
    return because.startsWith('signin.') ? because : '';
  } catch {
    return '';
  }
}

/** @returns {{token: string, ceiling: Ceiling} | null} */
function storedSession() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(STORED_AS) ?? 'null');
    return typeof kept?.token === 'string' && CEILINGS.includes(kept.ceiling) ? kept : null;
  } catch {
    return null;
  }
}
