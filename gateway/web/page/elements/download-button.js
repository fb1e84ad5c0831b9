// @ts-check
/** A button that collects everything into a file, telling how far it is. */
import { ApiError } from '../api.js';
import { html } from '../dom.js';
import { collect, save } from '../download.js';
import { icon } from '../icons.js';
import { text } from '../texts.js';
import { reasonText } from '../wording.js';

class DownloadButton extends HTMLElement {
  /** @type {AbortController | null} */
  abort = null;

  /** @param {import('../session.js').Session} session */
  show(session) {
    if (this.abort) return;
    const level = text(`sensitivity.${session.ceiling.toUpperCase()}`);
    this.message = html('p', { class: 'help', role: 'status', testid: 'download.message' }, text('settings.download_help', { level }));
    this.button = html(
      'button',
      { type: 'button', class: 'button', testid: 'download', onclick: () => (this.abort ? this.abort.abort() : void this.#run(session)) },
      icon('download'),
      html('span', {}, text('settings.download')),
    );
    this.replaceChildren(this.button, this.message);
  }

  disconnectedCallback() {
    this.abort?.abort();
  }

  /** Ends what is running, and leaves no number standing. */
  forget() {
    this.abort?.abort();
    this.abort = null;
    this.replaceChildren();
  }

  /** @param {import('../session.js').Session} session */
  async #run(session) {
    const { ceiling } = session;
    const abort = new AbortController();
    const { signal } = abort;
    this.abort = abort;
    this.#label('download.cancel');
    this.#tell(text('download.running', { count: 0 }));
    try {
      const memories = await collect(session.ask, ceiling, {
        signal,
        onProgress: (count) => this.#tell(text('download.running', { count })),
        onWait: (because) => this.#tell(text('download.waiting', { reason: reasonText(because) })),
      });
      save(memories, ceiling);
      this.#tell(text('download.done', { count: memories.length }));
    } catch (error) {
      if (this.abort !== abort) return;
      if (signal.aborted) this.#tell(text('download.stopped'));
      else this.#tell(text('download.failed', { reason: reasonText(error instanceof ApiError ? error : new ApiError('failed')) }));
    }
    this.abort = null;
    this.#label('settings.download');
  }

  /** @param {string} key */
  #label(key) {
    this.button.lastElementChild.textContent = text(key);
  }

  /** @param {string} words */
  #tell(words) {
    this.message.textContent = words;
  }
}

customElements.define('download-button', DownloadButton);
