// @ts-check
/** Searching and filtering a list: what is typed waits a moment, what is chosen counts at once. */
import { html } from '../dom.js';
import { debounced } from '../feed.js';
import { icon } from '../icons.js';
import { dayText, monthText, text } from '../texts.js';
import { FILTER_STATUSES, FILTER_TYPES, filterOf, isFiltered } from '../view.js';
import { confidenceText } from '../wording.js';

/** @typedef {import('../view.js').Filter} Filter */

/** The filters behind the button, in the order of their fields. @type {(keyof Filter)[]} */
const FOLDED = ['kind', 'status', 'type', 'subject', 'session', 'review'];

class FilterBar extends HTMLElement {
  /** @type {Filter} */
  filter = filterOf();
  /** What the fields were last in step with. @type {Filter | null} */
  known = null;

  /**
   * Draws the bar, or brings the one that is there up to date without taking the focus from it.
   * @param {Filter} filter
   * @param {{queue: boolean, derived: boolean, language: string, onFilter: (filter: Filter, typed: boolean) => void}} options
   */
  show(filter, { queue, derived, language, onFilter }) {
    this.onFilter = onFilter;
    const drawnFor = `${queue} ${derived} ${language}`;
    if (this.drawnFor !== drawnFor) {
      this.#draw((name) => (name === 'review' && !queue) || (name === 'kind' && derived) || !['review', 'kind'].includes(name));
      this.known = null;
    }
    this.drawnFor = drawnFor;
    this.#take(filter);
  }

  focusSearch() {
    this.fields.text.focus();
    this.fields.text.select();
  }

  /** @param {(name: keyof Filter) => boolean} isOffered */
  #draw(isOffered) {
    const typing = debounced(() => this.#read(true));
    /** @param {keyof Filter} name @param {string} placeholder */
    const input = (name, placeholder, type = 'text') =>
      html('input', {
        id: `filter-${name}`,
        type,
        testid: `filter.${name}`,
        placeholder: text(placeholder),
        autocomplete: 'off',
        spellcheck: 'false',
        maxlength: '1024',
        dir: 'auto',
        oninput: () => typing(),
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key === 'Enter') this.#read(true);
        },
      });
    /** @param {keyof Filter} name @param {readonly string[]} values @param {(value: string) => string} label */
    const choice = (name, values, label) =>
      html(
        'select',
        { id: `filter-${name}`, testid: `filter.${name}`, onchange: () => this.#read(false) },
        values.map((value) => html('option', { value }, label(value))),
      );
    this.typing = typing;
    /** @type {Record<string, any>} */
    this.fields = {
      text: input('text', 'filter.text_placeholder', 'search'),
      kind: choice('kind', ['', 'beliefs'], (value) => text(`filter.kind.${value || 'any'}`)),
      status: choice('status', FILTER_STATUSES, statusLabel),
      type: choice('type', FILTER_TYPES, (value) => text(value ? `type.${value.toUpperCase()}` : 'filter.type.any')),
      subject: input('subject', 'filter.subject_placeholder'),
      session: input('session', 'filter.session_placeholder'),
      review: choice('review', ['', 'flagged', 'unflagged'], (value) => text(`filter.review.${value || 'any'}`)),
    };
    this.fields.text.title = text('filter.text_help');
    this.panel = html(
      'div',
      { class: 'filter-fields', id: 'filter-fields', hidden: true },
      FOLDED.filter(isOffered).map((name) =>
        html('div', { class: 'filter-field' }, html('label', { for: `filter-${name}` }, text(`filter.${name}`)), this.fields[name]),
      ),
    );
    this.button = html(
      'button',
      {
        type: 'button',
        class: 'button quiet filter-button',
        testid: 'filter.more',
        'aria-expanded': 'false',
        'aria-controls': 'filter-fields',
        onclick: () => this.#unfold(this.panel.hidden),
      },
      icon('filter'),
      html('span', {}, text('filter.more')),
    );
    this.chips = html('div', { class: 'chips' });
    this.setAttribute('role', 'search');
    this.setAttribute('aria-label', text('filter.label'));
    this.replaceChildren(
      html(
        'div',
        { class: 'filter-line' },
        html(
          'div',
          { class: 'search-field' },
          icon('search'),
          html('label', { for: 'filter-text', class: 'visually-hidden' }, text('filter.text')),
          this.fields.text,
        ),
        this.button,
      ),
      this.panel,
      this.chips,
    );
  }

  /** @param {boolean} open */
  #unfold(open) {
    this.panel.hidden = !open;
    this.button.setAttribute('aria-expanded', String(open));
  }

  /** @param {Filter} filter */
  #take(filter) {
    this.filter = filter;
    for (const [name, field] of Object.entries(this.fields)) {
      const value = filter[/** @type {keyof Filter} */ (name)];
      // What is being typed is ahead of the view; only a view from elsewhere is put in its place.
      if (value !== this.known?.[/** @type {keyof Filter} */ (name)]) field.value = value;
    }
    this.known = filter;
    const count = FOLDED.filter((name) => filter[name] !== '').length;
    this.button.lastElementChild.textContent = count > 0 ? text('filter.more_active', { count }) : text('filter.more');
    this.chips.replaceChildren(...this.#chips(filter));
    this.chips.hidden = this.chips.childElementCount === 0;
  }

  /** @param {boolean} typed */
  #read(typed) {
    this.typing?.cancel();
    const filter = { ...this.filter };
    for (const [name, field] of Object.entries(this.fields)) filter[/** @type {keyof Filter} */ (name)] = field.value;
    this.known = filter;
    this.onFilter?.(filter, typed);
  }

  /** What is filtered by, each with a way to take it away. @param {Filter} filter */
  #chips(filter) {
    const chips = chipLabels(filter).map(([names, label]) =>
      html(
        'button',
        {
          type: 'button',
          class: 'chip',
          'aria-label': text('filter.remove', { name: label }),
          onclick: () => this.#clear(names),
        },
        html('bdi', {}, label),
        icon('close'),
      ),
    );
    if (isFiltered(filter)) {
      const clear = () => this.#clear(/** @type {(keyof Filter)[]} */ (Object.keys(filter)));
      chips.push(html('button', { type: 'button', class: 'chip clear', testid: 'filter.clear', onclick: clear }, text('filter.clear')));
    }
    return chips;
  }

  /** @param {(keyof Filter)[]} names */
  #clear(names) {
    const filter = { ...this.filter };
    for (const name of names) {
      filter[name] = '';
      if (this.fields[name]) this.fields[name].value = '';
    }
    this.onFilter?.(filter, false);
    this.fields.text.focus();
  }
}

/** @param {string} value */
function statusLabel(value) {
  if (value === '' || value === 'all') return text(`filter.status.${value || 'live'}`);
  return text(`status.${value.toUpperCase()}`);
}

/** @param {Filter} filter @returns {[(keyof Filter)[], string][]} */
function chipLabels(filter) {
  /** @type {[(keyof Filter)[], string][]} */
  const labels = [];
  if (filter.kind) labels.push([['kind'], text(`filter.kind.${filter.kind}`)]);
  if (filter.status) labels.push([['status'], statusLabel(filter.status)]);
  if (filter.type) labels.push([['type'], text(`type.${filter.type.toUpperCase()}`)]);
  if (filter.subject) labels.push([['subject'], text('row.about', { subject: filter.subject })]);
  if (filter.session) labels.push([['session'], text('filter.chip.session', { value: `${filter.session.slice(0, 8)}…` })]);
  if (filter.review) labels.push([['review'], text(`filter.review.${filter.review}`)]);
  if (filter.sensitivity) {
    labels.push([['sensitivity'], text('filter.chip.sensitivity', { value: text(`sensitivity.${filter.sensitivity.toUpperCase()}`) })]);
  }
  if (filter.confidenceMin || filter.confidenceMax) {
    const value = confidenceText(Number(filter.confidenceMin || 0), Number(filter.confidenceMax || 1));
    labels.push([['confidenceMin', 'confidenceMax'], text('filter.chip.confidence', { value })]);
  }
  if (filter.formedAfter || filter.formedBefore) labels.push([['formedAfter', 'formedBefore'], formedLabel(filter)]);
  return labels;
}

/** @param {Filter} filter */
function formedLabel({ formedAfter, formedBefore }) {
  if (!formedBefore) return text('filter.chip.formed_after', { value: dayText(formedAfter) });
  if (!formedAfter) return text('filter.chip.formed_before', { value: dayText(formedBefore) });
  const next = new Date(`${formedAfter}T00:00:00Z`);
  next.setUTCMonth(next.getUTCMonth() + 1);
  const wholeMonth = formedAfter.endsWith('-01') && next.toISOString().slice(0, 10) === formedBefore;
  const value = wholeMonth ? monthText(formedAfter.slice(0, 7)) : `${dayText(formedAfter)} – ${dayText(formedBefore)}`;
  return text('filter.chip.formed', { value });
}

customElements.define('filter-bar', FilterBar);
