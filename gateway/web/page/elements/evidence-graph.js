// @ts-check
/**
 * <evidence-graph>: why something is believed. Asks for the graph of what a record rests on, waits while the server is
 * busy, and shows the picture with the same content as nested lists; what is not shown is said in words.
 */
import { ApiError } from '../api.js';
import { html } from '../dom.js';
import { evidenceOf } from '../evidence.js';
import { patiently } from '../patience.js';
import { text } from '../texts.js';
import { reasonText } from '../wording.js';
import './evidence-picture.js';
import { nestedList } from './evidence-list.js';

/** How far the evidence is asked for: at first, and each time that more is wanted. */
const REACHES = [
  { maxDepth: 3, nodeLimit: 32 },
  { maxDepth: 5, nodeLimit: 96 },
  { maxDepth: 8, nodeLimit: 256 },
];

/**
 * @typedef {object} EvidenceContext
 * @property {string} id the record that is asked about
 * @property {import('../items.js').Ask} ask
 * @property {string} ceiling
 * @property {(id: string) => string} linkTo
 */

/** Events: `answered` (detail: what was shown, by id; null where nothing could be). */
class EvidenceGraph extends HTMLElement {
  abort = new AbortController();
  reach = 0;
  /** @type {EvidenceContext | null} */
  context = null;
  /** @type {import('../evidence.js').Evidence | null} */
  evidence = null;

  connectedCallback() {
    if (this.body) return;
    this.dataset.testid = 'evidence';
    this.className = 'detail-section';
    this.heading = html('h3', { tabindex: '-1' });
    this.help = html('p', { class: 'help' });
    this.message = html('p', { class: 'evidence-message', role: 'status', testid: 'evidence.message' });
    this.body = html('div');
    this.replaceChildren(this.heading, this.help, this.message, this.body);
    this.#draw();
  }

  /** Asks anew; what is shown of the same record stays until the answer is there. @param {EvidenceContext} context */
  show(context) {
    if (this.context?.id !== context.id || this.context.ceiling !== context.ceiling) this.forget();
    this.context = context;
    void this.#load(this.reach);
  }

  /** Leaves nothing standing, and takes no answer any more. */
  forget() {
    this.abort.abort();
    this.reach = 0;
    this.context = null;
    this.evidence = null;
    this.#draw();
  }

  /** @param {number} reach */
  async #load(reach) {
    const { id, ask, ceiling } = /** @type {EvidenceContext} */ (this.context);
    this.abort.abort();
    this.abort = new AbortController();
    const { signal } = this.abort;
    const variables = { id, ceiling: ceiling.toUpperCase(), ...REACHES[reach] };
    this.#say(text('evidence.loading'));
    try {
      const answer = await patiently(
        () => ask('EvidenceGraph', variables, { signal }),
        signal,
        (because) => this.#say(text('download.waiting', { reason: reasonText(because) })),
      );
      if (signal.aborted) return;
      this.#take(evidenceOf(answer.evidenceGraph), reach);
    } catch (error) {
      if (signal.aborted) return;
      this.#fail(error instanceof ApiError ? error : new ApiError('failed'), reach);
    }
  }

  /** @param {import('../evidence.js').Evidence} evidence @param {number} reach */
  #take(evidence, reach) {
    const asked = this.body?.contains(document.activeElement);
    this.reach = reach;
    this.evidence = evidence.whole ? evidence : null;
    this.#draw();
    if (asked) this.heading.focus({ preventScroll: true });
    if (evidence.whole) {
      this.#say(text('evidence.shown', { count: evidence.nodes.size }));
      this.#tell(new Map([...evidence.nodes].map(([id, { item }]) => [id, item])));
    } else {
      this.#say('');
      this.#tell(null);
      this.#refuse(text('evidence.unavailable'), text('evidence.unavailable_help'), this.#retry(text('state.retry'), 0));
    }
  }

  /** @param {ApiError} error @param {number} reach */
  #fail(error, reach) {
    this.#say('');
    this.evidence = null;
    this.#tell(null);
    if (error.kind === 'refused' && reach > 0) {
      this.#refuse(text('evidence.failed'), text('evidence.too_much'), this.#retry(text('evidence.less'), reach - 1));
    } else if (error.kind === 'refused' || error.kind === 'unsupported') {
      this.#refuse(text('evidence.failed'), text(`evidence.${error.kind}`));
    } else {
      this.#refuse(text('evidence.failed'), reasonText(error), this.#retry(text('state.retry'), reach));
    }
  }

  #draw() {
    if (!this.body) return;
    this.heading.textContent = text('evidence.title');
    this.help.textContent = text('evidence.help');
    const { evidence, context } = this;
    if (!evidence || !context) {
      this.message.textContent = '';
      this.body.replaceChildren();
      return;
    }
    const picture = html('evidence-picture');
    const words = html(
      'details',
      { class: 'evidence-words', testid: 'evidence.list' },
      html('summary', {}, text('evidence.list')),
      nestedList(evidence, context),
    );
    this.body.replaceChildren(picture, ...this.#rest(evidence), words);
    picture.show(evidence, context);
  }

  /** That there is more, and how to see it. @param {import('../evidence.js').Evidence} evidence */
  #rest({ complete }) {
    if (complete) return [];
    const last = this.reach === REACHES.length - 1;
    return [
      html(
        'div',
        { class: 'evidence-more', testid: 'evidence.more' },
        html('p', {}, text(last ? 'evidence.more_last' : 'evidence.more')),
        last ? null : this.#retry(text('evidence.deeper'), this.reach + 1),
      ),
    ];
  }

  /** @param {string} label @param {number} reach */
  #retry(label, reach) {
    return html('button', { type: 'button', class: 'button', testid: 'evidence.again', onclick: () => void this.#load(reach) }, label);
  }

  /** @param {string} title @param {string} words @param {HTMLElement} [action] */
  #refuse(title, words, action) {
    this.body?.replaceChildren(
      html(
        'div',
        { class: 'evidence-refused', role: 'alert', testid: 'evidence.refused' },
        html('strong', {}, title),
        html('p', {}, words),
        action,
      ),
    );
  }

  /** @param {string} words */
  #say(words) {
    if (this.message) this.message.textContent = words;
  }

  /** @param {Map<string, any> | null} items */
  #tell(items) {
    this.dispatchEvent(new CustomEvent('answered', { detail: items }));
  }
}

customElements.define('evidence-graph', EvidenceGraph);
