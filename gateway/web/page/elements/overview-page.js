// @ts-check
/** The page of the overview: the pictures, once their numbers are there, and the way to take everything along. */
import { ApiError } from '../api.js';
import { html } from '../dom.js';
import { text } from '../texts.js';
import './download-button.js';
import './memory-overview.js';
import { errorState } from './state-panel.js';

/** @typedef {import('../session.js').Session} Session */

class OverviewPage extends HTMLElement {
  abort = new AbortController();
  shownFor = '';

  connectedCallback() {
    if (this.heading) return;
    this.heading = html('h1', { class: 'page-title', tabindex: '-1' });
    this.lead = html('p', { class: 'page-lead' });
    this.state = html('state-panel', { hidden: true });
    this.overview = html('memory-overview', { hidden: true });
    this.download = html('download-button');
    this.replaceChildren(html('header', { class: 'page-head' }, this.heading, this.lead), this.state, this.overview, this.download);
  }

  /**
   * @param {Session} session
   * @param {(filter: object) => string} linkTo the address of the list with a filter
   */
  show(session, linkTo) {
    this.linkTo = linkTo;
    this.heading.textContent = text('overview.title');
    this.lead.textContent = text('overview.lead');
    this.download.show(session);
    const off = !session.browsingSupported ? 'unsupported' : !session.canRead ? 'forbidden' : null;
    if (off) {
      this.overview.hidden = true;
      this.download.hidden = true;
      this.state.show(errorState(new ApiError(off), () => {}));
      return;
    }
    this.download.hidden = false;
    void this.#load(session);
  }

  stop() {
    this.abort.abort();
  }

  /** Leaves no number standing. */
  forget() {
    this.stop();
    this.shownFor = '';
    this.overview.hidden = true;
    this.overview.replaceChildren();
    this.download.forget();
  }

  focusHeading() {
    this.heading.focus({ preventScroll: true });
  }

  /** @param {Session} session */
  async #load(session) {
    this.abort.abort();
    this.abort = new AbortController();
    const { signal } = this.abort;
    const { ceiling } = session;
    // Counts of another level are not left standing while those of this one are on their way.
    if (this.shownFor !== ceiling) {
      this.overview.hidden = true;
      this.state.show({ state: 'loading', title: text('state.loading') });
    }
    try {
      const { memoryOverview: overview } = await session.ask('MemoryOverview', { ceiling: ceiling.toUpperCase() }, { signal });
      if (signal.aborted) return;
      this.overview.show({ overview, ceiling, linkTo: this.linkTo });
      this.shownFor = ceiling;
      this.state.show(null);
      this.overview.hidden = false;
    } catch (error) {
      if (signal.aborted) return;
      this.shownFor = '';
      this.overview.hidden = true;
      this.error = error instanceof ApiError ? error : new ApiError('failed');
      this.state.show(errorState(this.error, () => void this.#load(session)));
    }
  }
}

customElements.define('overview-page', OverviewPage);
