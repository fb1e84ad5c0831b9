// @ts-check
/** What a person does about beliefs, from the wish to the answer: asked for where it can't be undone, done once, told. */
import { confirmDeletion } from './elements/dialogs.js';
import { isDerived, restingOn } from './items.js';
import { text } from './texts.js';
import { stillListed } from './view.js';
import { reasonText } from './wording.js';
import { carryOut, carryOutAll, newAct } from './writes.js';

/** @typedef {import('./writes.js').Act} Act */
/** @typedef {import('./writes.js').ActKind} ActKind */
/** @typedef {import('./writes.js').Outcome} Outcome */
/** @typedef {import('./session.js').Session} Session */

/** Events: `changed` (what is busy, the progress, the report), `done` (something was changed; detail: ids, deleted). */
export class Corrections extends EventTarget {
  /** Beliefs with an act on its way, by id. @type {Set<string>} */
  busy = new Set();
  /** Beliefs selected to act on together, by id. @type {Map<string, any>} */
  selected = new Map();
  /** @type {{done: number, count: number} | null} */
  progress = null;
  /** @type {{done: number, failed: {memory: any, error: any, act: Act}[]} | null} */
  report = null;

  /**
   * @param {object} options
   * @param {Session} options.session
   * @param {import('./feed.js').Feed} options.feed
   * @param {() => import('./view.js').View} options.view
   * @param {(words: string, options?: object) => void} options.say
   */
  constructor({ session, feed, view, say }) {
    super();
    this.session = session;
    this.feed = feed;
    this.view = view;
    this.say = say;
  }

  /** @param {any} memory @param {boolean} selected */
  select(memory, selected) {
    if (selected) this.selected.set(memory.id, memory);
    else this.selected.delete(memory.id);
    this.report = null;
    this.#tell('changed');
  }

  clearSelection() {
    this.selected.clear();
    this.report = null;
    this.#tell('changed');
  }

  /** Does something about one belief or several. @param {ActKind} kind @param {any[]} memories */
  async act(kind, memories) {
    const free = memories.filter((memory) => !this.busy.has(memory.id));
    if (!this.session.canWrite || this.progress || free.length === 0) return;
    if (kind === 'delete' && !(await confirmDeletion(free))) return;
    const acts = free.map((memory) => newAct(kind, memory, this.session.ceiling));
    const known = new Map(free.map((memory) => [memory.id, memory]));
    if (acts.length === 1) await this.#one(acts[0], free[0]);
    else await this.#several(acts, known);
  }

  /** Sends again what was not saved, under the keys it had. */
  async retryFailed() {
    const failed = this.report?.failed ?? [];
    if (failed.length === 0 || this.progress) return;
    await this.#several(
      failed.map(({ act }) => act),
      new Map(failed.map(({ memory }) => [memory.id, memory])),
    );
  }

  /** @param {Act} act @param {any} memory */
  async #one(act, memory) {
    this.busy.add(act.id);
    this.#tell('changed');
    const outcome = await carryOut(this.session.ask, act, () => this.say(text('act.retrying'), { stays: true }));
    this.busy.delete(act.id);
    this.#apply(outcome, memory);
    this.#tell('changed');
    if (outcome.error) this.#sayFailed(outcome, memory);
    else this.say(text(`act.done.${act.kind}${act.ofDerived ? '_derived' : ''}`));
  }

  /** @param {Act[]} acts @param {Map<string, any>} memories */
  async #several(acts, memories) {
    this.report = null;
    this.progress = { done: 0, count: acts.length };
    for (const { id } of acts) this.busy.add(id);
    this.#tell('changed');
    const failed = await carryOutAll(this.session.ask, acts, (outcome, done) => {
      this.busy.delete(outcome.act.id);
      this.progress = { done, count: acts.length };
      this.#apply(outcome, memories.get(outcome.act.id));
      this.#tell('changed');
    });
    for (const { id } of acts) this.busy.delete(id);
    this.progress = null;
    this.selected.clear();
    if (this.#isAtLevel(acts[0])) {
      this.report = {
        done: acts.length - failed.length,
        failed: failed.map(({ act, error }) => ({ act, error, memory: memories.get(act.id) })),
      };
    } else if (failed.length > 0) this.#sayFailed(failed[0], memories.get(failed[0].act.id));
    this.#tell('changed');
  }

  /** Brings the list in line with the answer. @param {Outcome} outcome @param {any} before */
  #apply({ act, memory, error }, before) {
    if (error) {
      if (error.kind === 'not_found') this.#gone(act.id);
      if (error.kind === 'unsupported' || error.kind === 'forbidden') this.session.withdrawWrites(error.kind);
      return;
    }
    this.selected.delete(act.id);
    if (act.kind === 'delete') {
      for (const id of [...this.#twins(before), act.id]) this.#gone(id);
    } else {
      const now = memory ?? before;
      if (stillListed(now, this.view())) this.feed.replace(now);
      else this.feed.remove([act.id]);
      // What was derived from it rests on it as it was.
      if (act.kind !== 'dismiss') this.#withhold(restingOn(this.feed.items, [act.id]));
      this.#tell('done', { id: act.id, deleted: false });
    }
  }

  /** What the server takes away with what is deleted: all that says the same, and what rests on it. @param {any} before */
  #twins(before) {
    const { items } = this.feed;
    const equal = items.filter((item) => saysTheSame(item, before)).map(({ id }) => id);
    const gone = new Set([...equal, ...restingOn(items, [...equal, before.id])]);
    gone.delete(before.id);
    return gone;
  }

  /** Takes out of the list what is no longer shown. @param {string[]} ids */
  #withhold(ids) {
    for (const id of ids) this.selected.delete(id);
    this.feed.remove(ids);
  }

  /** @param {string} id */
  #gone(id) {
    this.selected.delete(id);
    this.feed.remove([id]);
    this.#tell('done', { id, deleted: true });
  }

  /** @param {Outcome} outcome @param {any} memory */
  #sayFailed({ act, error }, memory) {
    switch (error?.kind) {
      case 'not_found':
        return this.say(text(act.ofDerived ? 'act.gone_derived' : 'act.gone'));
      case 'unsupported':
        return this.say(text('act.unsupported'), { stays: true });
      case 'forbidden':
        return this.say(text('act.forbidden'), { stays: true });
      case 'conflict':
        this.#tell('done', { id: act.id, deleted: false });
        return this.say(text('act.conflict'), { stays: true });
      case 'unauthenticated':
        return undefined;
      default:
        return this.say(text('act.failed', { reason: error ? reasonText(error) : '' }), {
          retry: this.#isAtLevel(act) ? () => void this.#one(act, memory) : undefined,
          stays: true,
        });
    }
  }

  /** Whether an act is of the level that is shown: else no belief of it is named, nor is it tried again. @param {Act} act */
  #isAtLevel(act) {
    return act.ceiling === this.session.ceiling.toUpperCase();
  }

  /** @param {string} name @param {object} [detail] */
  #tell(name, detail = {}) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

/** Whether an item goes when another is deleted, as far as words can tell. @param {any} item @param {any} deleted */
function saysTheSame(item, deleted) {
  const [words, said] = [plain(item.statement), plain(deleted.statement)];
  if (isDerived(deleted)) return isDerived(item) && words === said;
  return isDerived(item) ? words.includes(said) : words === said;
}

/** A statement without what does not tell one from another. @param {string} statement */
function plain(statement) {
  const visible = statement.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return visible.toLowerCase().toUpperCase().toLowerCase().replace(/\s+/gu, ' ').trim();
}
