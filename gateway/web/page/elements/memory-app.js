// @ts-check
/** The page as a whole: who is signed in, what is looked at, and which parts show it. */
import { pageMoved, watchAim } from '../aim.js';
import { ApiError } from '../api.js';
import { Corrections } from '../corrections.js';
import { html } from '../dom.js';
import { Feed } from '../feed.js';
import { isDerived, pageQuestion, waitingCount } from '../items.js';
import { CEILINGS, Session } from '../session.js';
import { listenToKeys } from '../shortcuts.js';
import { language, text } from '../texts.js';
import { currentView, filterOf, formatView, go, listVariables, onViewChange, parseView, replace } from '../view.js';
import { buildShell, showNavigation } from './app-shell.js';
import { closeDialogs, dialogIsOpen } from './dialogs.js';
import './notice-bar.js';
import { openSettings, openShortcuts } from './settings.js';
import './sign-in-form.js';
import { errorState } from './state-panel.js';

/** @typedef {import('../view.js').View} View */

const ACTS = new Set(['dismiss', 'untrue', 'not_here', 'delete']);
const PHONE = matchMedia('(max-width: 63.99rem)');

class MemoryApp extends HTMLElement {
  session = new Session();
  feed = new Feed(pageQuestion(this.session));
  notices = html('notice-bar');
  corrections = new Corrections({
    session: this.session,
    feed: this.feed,
    view: () => this.view,
    say: (words, options) => this.notices.say(words, options),
  });
  /** @type {View} */
  view = currentView();
  /** What the feed was started for. */
  listedFor = '';
  /** The level that the person has just chosen, and the address is about to tell. */
  chosenCeiling = '';
  /** Up to which ceiling everything that is shown was asked for. */
  shownUpTo = '';
  /** @type {number | null} */
  reviewCount = null;

  connectedCallback() {
    onViewChange(() => this.#viewChanged());
    this.session.addEventListener('changed', () => this.#render());
    this.feed.addEventListener('changed', () => this.#showList());
    this.corrections.addEventListener('changed', () => this.#showParts());
    this.corrections.addEventListener('done', (event) => this.#corrected(/** @type {CustomEvent} */ (event).detail));
    this.addEventListener('act', (event) => this.#act(/** @type {CustomEvent} */ (event).detail));
    this.addEventListener('rowselect', (event) => {
      const { id, selected } = /** @type {CustomEvent} */ (event).detail;
      const memory = this.feed.items.find((item) => item.id === id);
      if (memory) this.corrections.select(memory, selected);
    });
    this.addEventListener('click', (event) => this.#followRow(event));
    addEventListener('online', () => this.#backOnline());
    watchAim();
    PHONE.addEventListener('change', () => this.#signedInRender());
    listenToKeys((name) => this.#perform(name), () => !this.session.signedIn || dialogIsOpen());
    void this.#resume();
  }

  async #resume() {
    try {
      if (!(await this.session.resume())) this.#render();
    } catch (error) {
      const known = error instanceof ApiError ? error : new ApiError('failed');
      if (known.kind === 'unauthenticated') return;
      this.#showStartError(known);
    }
  }

  /** The page was opened again with a kept token, and the server can't be asked. @param {ApiError} error */
  #showStartError(error) {
    const panel = html('state-panel');
    this.shell = null;
    this.replaceChildren(html('main', { class: 'start' }, panel));
    const state = errorState(error, () => void this.#resume());
    const other = { label: text('state.other_token'), run: () => this.session.end('') };
    panel.show({ ...state, level: 1, actions: [...(state.actions ?? []), other] });
  }

  #render() {
    document.title = text('app.title');
    if (this.session.signedIn) {
      this.#adoptView();
      this.#signedInRender();
      return;
    }
    closeDialogs();
    if (this.shell) {
      this.#leave();
      return;
    }
    const form = html('sign-in-form');
    this.replaceChildren(html('main', { class: 'signin' }, form));
    form.show(this.session, {
      ceiling: currentView().ceiling,
      onCeiling: (/** @type {any} */ ceiling) => replace({ ...currentView(), ceiling }),
      onLanguage: () => this.#render(),
    });
  }

  /**
   * Opens the page anew: nothing of one person is left for the next, no act and no answer on its way either. Who signs
   * out leaves the address behind as well.
   */
  #leave() {
    this.replaceChildren();
    if (this.session.endedBecause === 'signin.signed_out') history.replaceState(null, '', location.pathname);
    location.reload();
  }

  /** The address always tells the ceiling. One that lies lower than the session's counts; none is raised by a link. */
  #adoptView() {
    this.view = currentView();
    const { ceiling } = this.view;
    const isLower = CEILINGS.indexOf(ceiling) <= CEILINGS.indexOf(this.session.ceiling);
    if (ceiling !== '' && (isLower || ceiling === this.chosenCeiling)) {
      this.chosenCeiling = '';
      this.session.setCeiling(ceiling);
    } else {
      this.view = { ...this.view, ceiling: this.session.ceiling };
      replace(this.view);
    }
  }

  #viewChanged() {
    const before = this.view;
    this.view = currentView();
    if (!this.session.signedIn) return;
    this.#adoptView();
    if (formatView(before) === formatView(this.view)) return;
    this.#signedInRender();
    this.#moveFocus(before);
  }

  #signedInRender() {
    if (!this.session.signedIn) return;
    if (!this.shell || this.shell.language !== language()) this.#buildShell();
    const { view, session, shell } = this;
    const overview = view.place === 'overview';
    if (this.shownUpTo !== session.ceiling) this.#forgetShown();
    shell.ceiling.show(session.ceiling, (/** @type {any} */ ceiling) => this.#chooseCeiling(ceiling));
    this.#showNavigation();
    shell.list.hidden = overview;
    shell.overview.hidden = !overview;
    this.dataset.place = view.place;
    // The overview counts beliefs alone.
    const kind = session.derivedSupported ? 'beliefs' : '';
    if (overview) shell.overview.show(session, (/** @type {object} */ filter) => this.#listLink({ ...filter, kind }));
    else shell.overview.stop();
    if (!overview) this.#startList();
    this.#showParts();
    void this.#countReviews();
  }

  /** Under another ceiling nothing that was shown stays, in hidden parts neither. */
  #forgetShown() {
    this.shownUpTo = this.session.ceiling;
    this.feed.stop();
    this.listedFor = '';
    this.reviewCount = null;
    closeDialogs();
    this.notices.replaceChildren();
    this.corrections.clearSelection();
    this.shell.overview.forget();
    this.#showList();
  }

  #buildShell() {
    this.shell = buildShell({ onSettings: () => this.#openSettings() });
    this.replaceChildren(...this.shell.content, this.notices);
  }

  #showNavigation() {
    if (this.shell) showNavigation(this.shell, this.view, this.reviewCount);
  }

  #startList({ anew = false } = {}) {
    const variables = listVariables({ ...this.view, ceiling: this.session.ceiling });
    const wanted = JSON.stringify([this.view.list, variables]);
    if (!this.session.canRead || !this.session.browsingSupported || (wanted === this.listedFor && !anew)) return;
    this.listedFor = wanted;
    this.corrections.clearSelection();
    this.feed.start(variables);
  }

  #showParts() {
    this.#showList();
    this.#showDetail();
  }

  #showList() {
    if (!this.shell || (this.view.place === 'overview' && this.feed.items.length > 0)) return;
    const { session, feed, corrections, view } = this;
    this.shell.list.show({
      session,
      feed,
      corrections,
      view,
      onFilter: (/** @type {any} */ filter, /** @type {boolean} */ typed) => this.#filter(filter, typed),
      onReload: () => this.#startList({ anew: true }),
    });
  }

  #showDetail() {
    if (!this.shell) return;
    const { detail, main } = this.shell;
    const open = this.view.place === 'memory';
    detail.hidden = !open;
    this.classList.toggle('with-detail', open);
    main.inert = open && PHONE.matches;
    if (!open) {
      detail.clear();
      return;
    }
    const { session, corrections, view } = this;
    detail.show(view.id, {
      ask: session.ask,
      ceiling: session.ceiling,
      derivedSupported: session.derivedSupported,
      evidenceSupported: session.evidenceSupported,
      isDerived: (/** @type {string} */ id) => isDerived(this.feed.items.find((item) => item.id === id)),
      canWrite: session.canWrite,
      writesUnsupported: session.writesUnsupported,
      isBusy: (/** @type {string} */ id) => corrections.busy.has(id),
      linkTo: (/** @type {string} */ id) => formatView({ ...view, id }),
      sessionLink: (/** @type {string} */ id) => this.#listLink({ session: id, status: 'all' }),
      onClose: () => this.#closeDetail(),
    });
  }

  /** Focus follows what was opened, and goes back to the row it was opened from. @param {View} before */
  #moveFocus(before) {
    const { view, shell } = this;
    if (view.place === 'memory') {
      if (before.id !== view.id) shell.detail.focus({ preventScroll: true });
      return;
    }
    if (before.place === 'memory' && before.list === view.list) {
      const index = shell.list.list.indexOf(before.id);
      if (index >= 0) shell.list.list.focusIndex(index);
      else shell.list.focusHeading();
    } else if (before.place !== view.place) {
      scrollTo({ top: 0, behavior: 'instant' });
      (view.place === 'overview' ? shell.overview : shell.list).focusHeading();
    }
  }

  /** @param {{gone?: boolean}} [options] whether there is nothing that back could lead to */
  #closeDetail({ gone = false } = {}) {
    const list = { ...this.view, place: this.view.list, id: '' };
    if (history.state?.fromList) history.back();
    else if (gone) replace(list);
    else go(list);
  }

  /** @param {import('../view.js').Filter} filter @param {boolean} typed */
  #filter(filter, typed) {
    const view = /** @type {View} */ ({ ...this.view, place: this.view.list, id: '', filter });
    if (formatView(view) === formatView(this.view)) return;
    scrollTo({ top: 0, behavior: 'instant' });
    // Each letter is no step of the history.
    if (typed && this.view.place !== 'memory') replace(view);
    else go(view);
  }

  /** The address of a list; what waits for review has a page of its own. @param {Partial<import('../view.js').Filter>} filter */
  #listLink({ review, ...filter }) {
    const list = review === 'flagged' ? 'review' : 'memories';
    return formatView({ place: list, list, id: '', filter: filterOf(filter), ceiling: this.session.ceiling });
  }

  /** A belief opened from the list: closing it goes back in the history. @param {MouseEvent} event */
  #followRow(event) {
    const link = /** @type {HTMLElement} */ (event.target).closest('a.row-statement');
    if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(parseView(link.getAttribute('href') ?? ''), { fromList: this.view.place !== 'memory' });
  }

  /** @param {import('../session.js').Ceiling} ceiling */
  #chooseCeiling(ceiling) {
    this.chosenCeiling = ceiling;
    go({ ...this.view, ceiling });
    this.notices.say(text('ceiling.changed', { level: text(`sensitivity.${ceiling.toUpperCase()}`) }));
  }

  #openSettings() {
    openSettings(this.session, { onLanguage: () => this.#render(), onSignOut: () => this.session.end('signin.signed_out') });
  }

  async #countReviews({ anew = false } = {}) {
    const { session } = this;
    if (!session.canRead || !session.browsingSupported || (this.countedFor === session.ceiling && !anew)) return;
    const { ceiling } = session;
    this.countedFor = ceiling;
    try {
      const count = await waitingCount(session);
      if (ceiling !== session.ceiling || !session.signedIn) return;
      this.reviewCount = count;
    } catch {
      // The count is only a hint: without it the entry stands alone, and the next change asks again.
      this.reviewCount = null;
      this.countedFor = '';
    }
    this.#showNavigation();
  }

  /** @param {{kind: import('../writes.js').ActKind, memories: any[]}} wish */
  #act({ kind, memories }) {
    const index = this.shell.list.list.indexOf(memories[0]?.id);
    this.followUp = { id: memories[0]?.id, index };
    void this.corrections.act(kind, memories);
  }

  /** @param {{id: string, deleted: boolean}} done */
  #corrected({ id, deleted }) {
    pageMoved();
    void this.#countReviews({ anew: true });
    if (!this.shell) return;
    const { memory } = this.shell.detail;
    if ((deleted || isDerived(memory)) && this.view.place === 'memory' && this.view.id !== id) {
      // It may name the belief that is gone, say the same, or rest on what was changed.
      this.shell.detail.clear();
      this.#showDetail();
    }
    if (this.view.place === 'memory' && this.view.id === id) {
      if (deleted) this.#closeDetail({ gone: true });
      else void this.shell.detail.load().then(pageMoved);
      return;
    }
    // The row that was acted on is gone: the keyboard goes on with the one that took its place.
    const { list } = this.shell.list;
    if (this.followUp?.id === id && this.followUp.index >= 0 && list.indexOf(id) < 0 && !this.corrections.progress) {
      list.focusIndex(Math.min(this.followUp.index, this.feed.items.length - 1));
    }
  }

  #backOnline() {
    if (!this.session.signedIn) return;
    if (this.feed.error?.kind === 'offline') void this.feed.next({ again: true });
    if (this.shell?.detail.failedOffline) void this.shell.detail.load();
    if (this.view.place === 'overview' && this.shell?.overview.error) this.#signedInRender();
    void this.#countReviews({ anew: true });
  }

  /** What a key asks for. @param {string} name @returns {boolean} whether it meant something */
  #perform(name) {
    if (ACTS.has(name)) return this.#performAct(/** @type {any} */ (name));
    const { list } = this.shell.list;
    const onList = this.view.place !== 'overview';
    switch (name) {
      case 'next':
      case 'previous':
        if (!onList || (this.view.place === 'memory' && PHONE.matches)) return false;
        list.step(name === 'next' ? 1 : -1);
        return true;
      case 'open':
        if (!onList || !list.current) return false;
        go({ ...this.view, place: 'memory', id: list.current.id }, { fromList: this.view.place !== 'memory' });
        return true;
      case 'close':
        if (this.view.place === 'memory') this.#closeDetail();
        else this.corrections.clearSelection();
        return true;
      case 'search':
        if (!onList) go({ ...this.view, place: 'memories', list: 'memories', filter: filterOf() });
        this.shell.list.focusSearch();
        return true;
      case 'select':
        if (!onList || !list.current || !this.session.canWrite) return false;
        this.corrections.select(list.current, !this.corrections.selected.has(list.currentId));
        return true;
      case 'help':
        openShortcuts();
        return true;
      default:
        go({ ...this.view, place: /** @type {any} */ (name), list: name === 'review' ? 'review' : 'memories', id: '', filter: filterOf() });
        return true;
    }
  }

  /** @param {import('../writes.js').ActKind} kind */
  #performAct(kind) {
    if (!this.session.canWrite) return false;
    const selected = [...this.corrections.selected.values()];
    const shown = this.view.place === 'memory' ? this.shell.detail.memory : this.shell.list.list.current;
    const memories = selected.length > 0 ? selected : shown ? [shown] : [];
    if (memories.length === 0 || this.view.place === 'overview') return false;
    this.#act({ kind, memories });
    return true;
  }
}

customElements.define('memory-app', MemoryApp);
