// @ts-check
/** Short messages of what just happened, read out as they come; one that asks for something stays until it is closed. */
import { html } from '../dom.js';
import { icon } from '../icons.js';
import { text } from '../texts.js';

const SHOWN_MILLISECONDS = 7000;

class NoticeBar extends HTMLElement {
  connectedCallback() {
    this.setAttribute('role', 'status');
    this.setAttribute('aria-label', text('notice.label'));
    this.dataset.testid = 'notices';
  }

  /**
   * @param {string} words
   * @param {{retry?: () => void, stays?: boolean}} [options]
   */
  say(words, { retry, stays = Boolean(retry) } = {}) {
    const notice = html(
      'div',
      { class: 'notice' },
      html('p', {}, words),
      retry
        ? html(
            'button',
            {
              type: 'button',
              class: 'button',
              testid: 'notice.retry',
              onclick: () => {
                notice.remove();
                retry();
              },
            },
            text('notice.retry'),
          )
        : null,
      html(
        'button',
        { type: 'button', class: 'icon-button', 'aria-label': text('notice.close'), onclick: () => notice.remove() },
        icon('close'),
      ),
    );
    this.replaceChildren(notice);
    if (!stays) setTimeout(() => notice.remove(), SHOWN_MILLISECONDS);
  }
}

customElements.define('notice-bar', NoticeBar);
