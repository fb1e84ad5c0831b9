// @ts-check
/** The dialogs of the page: each is made when it is needed and taken away when it is closed. */
import { pageMoved } from '../aim.js';
import { html } from '../dom.js';
import { icon } from '../icons.js';
import { isDerived } from '../items.js';
import { text } from '../texts.js';

/**
 * Asks before something is deleted.
 * @param {any[]} memories
 * @returns {Promise<boolean>}
 */
export function confirmDeletion(memories) {
  const count = memories.length;
  const of = memories.every(isDerived) ? '_derived' : memories.some(isDerived) ? '_mixed' : '';
  return new Promise((resolve) => {
    const dialog = html(
      'dialog',
      { class: 'dialog narrow', 'aria-labelledby': 'confirm-title', 'aria-describedby': 'confirm-text' },
      html('h2', { id: 'confirm-title' }, text(`confirm.title${of}`, { count })),
      count === 1 && memories[0].statement ? html('blockquote', {}, html('bdi', { dir: 'auto' }, memories[0].statement)) : null,
      html('p', { id: 'confirm-text' }, text(`confirm.text${of}`, { count })),
      html(
        'div',
        { class: 'dialog-actions' },
        html('button', { type: 'button', class: 'button', testid: 'confirm.cancel', onclick: () => dialog.close() }, text('confirm.cancel')),
        html(
          'button',
          { type: 'button', class: 'button danger', testid: 'confirm.delete', onclick: () => dialog.close('delete') },
          icon('trash'),
          text('confirm.delete', { count }),
        ),
      ),
    );
    open(dialog, () => resolve(dialog.returnValue === 'delete'));
  });
}

/** A dialog with a heading and a way to close it. @param {string} title @param {...any} content */
export function openDialog(title, ...content) {
  const dialog = html(
    'dialog',
    { class: 'dialog', 'aria-labelledby': 'dialog-title' },
    html(
      'div',
      { class: 'dialog-head' },
      html('h2', { id: 'dialog-title' }, title),
      html(
        'button',
        { type: 'button', class: 'icon-button', 'aria-label': text('settings.close'), onclick: () => dialog.close() },
        icon('close'),
      ),
    ),
    ...content,
  );
  open(dialog);
  return dialog;
}

/** Whether one stands open. */
export function dialogIsOpen() {
  return document.querySelector('dialog[open]') !== null;
}

/** Closes what stands open, as when the person is signed out. */
export function closeDialogs() {
  for (const dialog of document.querySelectorAll('dialog')) dialog.close();
}

/** @param {any} dialog @param {() => void} [onClosed] */
function open(dialog, onClosed = () => {}) {
  document.body.append(dialog);
  dialog.addEventListener('close', () => {
    dialog.remove();
    pageMoved();
    onClosed();
  });
  // A press beside the dialog closes it.
  dialog.addEventListener('click', (/** @type {MouseEvent} */ event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.showModal();
  pageMoved();
}
