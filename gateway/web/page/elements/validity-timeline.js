// @ts-check
/**
 * <validity-timeline>: the life of one belief as a drawn line, and the same moments as a list in words.
 *
 * Days carry numbers: a pin on the line and its entry in the list have the same one. The drawing is hidden from
 * screen readers, because the list says all of it. The line is drawn anew for each width, so that its letters keep
 * their size.
 */

import { html } from '../dom.js';
import { dayText, text } from '../texts.js';
import { byDay, momentsOf, validityOf } from './moments.js';
import { clockText, relativeText } from './times.js';
import { drawnLife } from './timeline-drawing.js';

const NARROWEST = 200;

export class ValidityTimeline extends HTMLElement {
  /** @type {Record<string, any> | null} */
  #memory = null;
  #now = new Date();
  #drawing = html('div', { class: 'timeline-drawing', 'aria-hidden': 'true' });
  #watch = new ResizeObserver(() => this.#draw());
  #drawnWidth = 0;

  /** The belief, as MemoryDetail answers it. */
  get memory() {
    return this.#memory;
  }

  set memory(memory) {
    this.#memory = memory;
    this.#now = new Date();
    this.#render();
  }

  connectedCallback() {
    this.#watch.observe(this.#drawing);
  }

  disconnectedCallback() {
    this.#watch.disconnect();
  }

  #render() {
    if (this.#memory === null) {
      this.replaceChildren();
      return;
    }
    const validity = validityOf(this.#memory, this.#now);
    const values = { from: dayText(validity.from), to: validity.to === null ? '' : dayText(validity.to) };
    const caption = html('figcaption', { class: 'timeline-caption' }, text(`timeline.validity_${validity.kind}`, values));
    const days = byDay(momentsOf(this.#memory, this.#now));
    const list = html('ol', { class: 'timeline-days', role: 'list', 'aria-label': text('timeline.label') }, ...days.map((day, index) => this.#entry(day, index)));
    const unused = this.#memory.lastUsedAt ? null : html('p', { class: 'timeline-note' }, text('timeline.never_used'));
    this.replaceChildren(html('figure', { class: 'timeline' }, caption, this.#drawing, list, unused));
    this.#drawnWidth = 0;
    this.#draw();
  }

  /** @param {import('./moments.js').Day} day @param {number} index */
  #entry(day, index) {
    const future = day.at > this.#now;
    const number = html('span', { class: 'timeline-number', 'aria-hidden': 'true' }, String(index + 1));
    const when = html('time', { class: 'timeline-date', datetime: day.at.toISOString() }, dayText(day.at));
    const ago = html('span', { class: 'timeline-ago' }, relativeText(day.at, this.#now));
    const moments = day.moments.map(({ kind, at }) => {
      const clock = html('time', { class: 'timeline-clock', datetime: at.toISOString() }, clockText(at));
      return html('li', {}, html('span', {}, text(`timeline.${kind}`)), ' ', clock);
    });
    const entry = html('li', { class: future ? 'timeline-day is-future' : 'timeline-day' }, number);
    const head = html('p', { class: 'timeline-when' }, when, ' ', ago);
    entry.append(html('div', {}, head, html('ul', { class: 'timeline-moments', role: 'list' }, ...moments)));
    entry.addEventListener('pointerenter', () => this.#light(index, true));
    entry.addEventListener('pointerleave', () => this.#light(index, false));
    return entry;
  }

  /** @param {number} index @param {boolean} on */
  #light(index, on) {
    this.#drawing.querySelectorAll('.timeline-pin')[index]?.classList.toggle('is-lit', on);
  }

  #draw() {
    const width = this.#drawing.clientWidth;
    if (this.#memory === null || width < NARROWEST || width === this.#drawnWidth) return;
    this.#drawnWidth = width;
    const life = {
      days: byDay(momentsOf(this.#memory, this.#now)),
      validity: validityOf(this.#memory, this.#now),
      now: this.#now,
      today: text('timeline.now'),
      width,
      mirrored: getComputedStyle(this).direction === 'rtl',
    };
    this.#drawing.replaceChildren(drawnLife(life));
  }
}

customElements.define('validity-timeline', ValidityTimeline);
