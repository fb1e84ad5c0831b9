// @ts-check
/** One belief or derived record with everything that is known of it, in words, and what can be done about it. */
import { ApiError } from '../api.js';
import { html } from '../dom.js';
import { icon } from '../icons.js';
import { isDerived, isShell, readItem, readSources } from '../items.js';
import { text } from '../texts.js';
import { isKeptHere, isLive } from '../wording.js';
import { clauseSections, derivedFacts, derivedHeading } from './derived-detail.js';
import './evidence-graph.js';
import { keyFact, meter } from './facts.js';
import { linkedList } from './linked-items.js';
import { factSections } from './memory-facts.js';
import { sensitivityBadge } from './memory-row.js';
import { reviewActions } from './review-actions.js';
import { errorState } from './state-panel.js';
import './validity-timeline.js';

/**
 * @typedef {object} DetailContext
 * @property {(name: string, variables: object, options: object) => Promise<any>} ask
 * @property {string} ceiling
 * @property {boolean} derivedSupported
 * @property {boolean} evidenceSupported
 * @property {(id: string) => boolean} isDerived whether it is known to be a derived record
 * @property {boolean} canWrite
 * @property {boolean} writesUnsupported
 * @property {(id: string) => boolean} isBusy
 * @property {(id: string) => string} linkTo another belief or derived record
 * @property {(session: string) => string} sessionLink everything first learned in a session
 * @property {() => void} onClose
 */

class MemoryDetail extends HTMLElement {
  /** @type {any} */
  memory = null;
  id = '';
  abort = new AbortController();
  evidence = html('evidence-graph');
  /** What the sources of a derived record say. @type {import('./derived-detail.js').Names} */
  names = null;
  clauses = html('div');

  constructor() {
    super();
    this.evidence.addEventListener('answered', (/** @type {CustomEvent} */ event) => this.#name(event.detail));
  }

  /** Shows a belief, fetched anew if it is another one. @param {string} id @param {DetailContext} context */
  show(id, context) {
    const same = this.id === id && this.context?.ceiling === context.ceiling;
    this.context = context;
    if (same && this.memory) this.#draw();
    else if (!same) {
      // Under another level it may be none of what is shown: nothing of it stays while the answer is awaited.
      this.id = '';
      void this.load(id);
    }
  }

  /** Forgets what is shown. */
  clear() {
    this.abort.abort();
    this.id = '';
    this.memory = null;
    this.#forgetEvidence();
    this.replaceChildren();
  }

  /** Fetches it; what is shown of it stays until the answer is there. @param {string} id */
  async load(id = this.id) {
    const { ask, ceiling, derivedSupported, ...context } = /** @type {DetailContext} */ (this.context);
    const derivedFirst = id === this.id && this.memory ? isDerived(this.memory) : context.isDerived(id);
    this.abort.abort();
    this.abort = new AbortController();
    const { signal } = this.abort;
    if (id !== this.id) {
      this.memory = null;
      this.id = id;
      this.#forgetEvidence();
      this.#showState({ state: 'loading', title: text('state.loading') });
    }
    try {
      const memory = await readItem(ask, { id, ceiling, derivedSupported, derivedFirst, signal });
      if (signal.aborted) return;
      this.memory = memory;
      this.error = null;
      this.#draw();
      this.#askEvidence();
    } catch (error) {
      if (signal.aborted) return;
      const known = error instanceof ApiError ? error : new ApiError('failed');
      this.memory = null;
      this.#forgetEvidence();
      this.error = known;
      this.#showState(errorState(known, () => this.#again()));
    }
  }

  get failedOffline() {
    return this.error?.kind === 'offline';
  }

  focusHeading() {
    /** @type {HTMLElement | null} */ (this.querySelector('.detail-heading'))?.focus({ preventScroll: true });
  }

  #again() {
    const { id } = this;
    this.id = '';
    void this.load(id);
  }

  /** @param {import('./state-panel.js').PanelState} state */
  #showState(state) {
    this.dataset.testid = 'memory.detail';
    const panel = html('state-panel');
    this.replaceChildren(this.#bar(), panel);
    panel.show(state);
  }

  #bar() {
    return html(
      'div',
      { class: 'detail-bar' },
      html(
        'button',
        {
          type: 'button',
          class: 'button quiet',
          testid: 'detail.back',
          onclick: () => this.context?.onClose(),
        },
        icon('back'),
        text('detail.back'),
      ),
    );
  }

  #draw() {
    const { memory } = this;
    const context = /** @type {DetailContext} */ (this.context);
    const scrolled = this.scrollTop;
    const hadFocus = this.contains(document.activeElement);
    this.dataset.testid = 'memory.detail';
    const parts = isDerived(memory) ? this.#derivedParts(memory, context) : this.#beliefParts(memory, context);
    this.replaceChildren(this.#bar(), html('article', { class: 'detail-body' }, parts));
    this.scrollTop = scrolled;
    if (hadFocus) this.focusHeading();
  }

  /** @param {any} memory @param {DetailContext} context */
  #beliefParts(memory, context) {
    const timeline = html('validity-timeline');
    timeline.memory = memory;
    return [
      heading(memory),
      notices(memory),
      this.#correction(memory, context),
      linked('detail.conflicts', memory.conflictsWithMemories, context, 'detail.conflicts_help'),
      linked('detail.superseded_by', memory.supersededByMemory ? [memory.supersededByMemory] : [], context),
      linked('detail.supersedes', memory.supersedes, context),
      html('section', { class: 'detail-section' }, html('h3', {}, text('detail.timeline')), timeline),
      ...factSections(memory, context),
    ];
  }

  /** @param {any} record @param {DetailContext} context */
  #derivedParts(record, context) {
    const head = [derivedHeading(record), notices(record), this.#correction(record, context)];
    if (isShell(record)) return [...head, ...derivedFacts(record)];
    this.#drawClauses();
    return [...head, this.clauses, context.evidenceSupported ? this.evidence : null, ...derivedFacts(record)];
  }

  #drawClauses() {
    this.clauses.replaceChildren(...clauseSections(this.memory, this.names, /** @type {DetailContext} */ (this.context)));
  }

  /** Asks what a derived record rests on: as a graph, where that is served. */
  #askEvidence() {
    const { memory } = this;
    const { ask, ceiling, linkTo, evidenceSupported } = /** @type {DetailContext} */ (this.context);
    if (!isDerived(memory) || isShell(memory)) this.#forgetEvidence();
    else if (evidenceSupported) this.evidence.show({ id: memory.id, ask, ceiling, linkTo });
    else void this.#askSources();
  }

  async #askSources() {
    const { signal } = this.abort;
    const { ask, ceiling } = /** @type {DetailContext} */ (this.context);
    try {
      const names = await readSources(ask, { ids: this.memory.sourceIds, ceiling, signal });
      if (!signal.aborted) this.#name(names);
    } catch {
      // Without their words the sources are links by number, which lead to them as well.
    }
  }

  /** Takes what the sources say; where the graph could not tell, each is asked. @param {Map<string, any> | null} names */
  #name(names) {
    if (names === null) void this.#askSources();
    else {
      this.names = names;
      this.#drawClauses();
    }
  }

  #forgetEvidence() {
    this.names = null;
    this.evidence.forget();
    this.clauses.replaceChildren();
  }

  /** @param {any} memory @param {DetailContext} context */
  #correction(memory, context) {
    if (!context.canWrite) {
      const words = context.writesUnsupported ? 'act.unsupported' : 'act.read_only';
      return html('p', { class: 'read-only', testid: 'writes.off' }, icon('lock'), text(words));
    }
    const actions = reviewActions({
      memory,
      busy: context.isBusy(memory.id),
      onAct: (kind) => this.dispatchEvent(new CustomEvent('act', { bubbles: true, detail: { kind, memories: [memory] } })),
    });
    return html('section', { class: 'detail-section correction' }, html('h3', {}, text('act.title')), actions);
  }
}

/** @param {any} memory */
function heading(memory) {
  const lead = !isLive(memory) ? 'detail.believed' : memory.polarity === 'RETRACT' ? 'detail.believes_not' : 'detail.believes';
  return html(
    'header',
    { class: 'detail-head' },
    html('p', { class: 'detail-lead' }, text(lead)),
    html('h2', { class: 'detail-heading', tabindex: '-1' }, html('bdi', { dir: 'auto' }, memory.statement)),
    html(
      'dl',
      { class: 'key-facts' },
      keyFact('detail.about', html('bdi', { dir: 'auto' }, memory.subject)),
      keyFact('detail.sure', meter(memory.confidence)),
      keyFact('detail.status', [text(`status.${memory.status}`), html('small', {}, text(`status_help.${memory.status}`))]),
      keyFact('detail.privacy', [
        sensitivityBadge(memory.sensitivity),
        html('small', {}, text(`sensitivity_shown.${memory.sensitivity}`)),
      ]),
    ),
  );
}

/** @param {any} memory */
function notices(memory) {
  if (!memory.flaggedForReview) return null;
  const kept = isKeptHere(memory);
  const flagged = isDerived(memory) ? `derived.flagged_help.${isShell(memory) ? 'gone' : memory.recordKind}` : 'detail.flagged_help';
  const [title, words] = kept ? ['detail.kept_here', 'detail.kept_here_help'] : ['detail.flagged', flagged];
  return html(
    'div',
    { class: `detail-notice ${kept ? 'kept' : 'flagged'}` },
    icon(kept ? 'here' : 'flag'),
    html('div', {}, html('strong', {}, text(title)), html('p', {}, text(words, { scope: memory.scope }))),
  );
}

/** @param {string} title @param {any[] | null} memories @param {DetailContext} context @param {string} [help] */
function linked(title, memories, context, help) {
  if (!memories || memories.length === 0) return null;
  return html(
    'section',
    { class: 'detail-section' },
    html('h3', {}, text(title)),
    help ? html('p', { class: 'help' }, text(help)) : null,
    linkedList(memories, context),
  );
}

customElements.define('memory-detail', MemoryDetail);
