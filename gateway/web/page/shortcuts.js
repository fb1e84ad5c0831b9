// @ts-check
/** The keys of the page. None acts while something is typed, a dialog is open, or a key of the system is held. */

/** Every shortcut: its keys as they are shown, and the key of its words. @type {[string[], string][]} */
export const SHORTCUTS = [
  [['j', '↓'], 'keys.next'],
  [['k', '↑'], 'keys.previous'],
  [['Enter'], 'keys.open'],
  [['Esc'], 'keys.close'],
  [['/'], 'keys.search'],
  [['x'], 'keys.select'],
  [['r'], 'keys.dismiss'],
  [['u'], 'keys.untrue'],
  [['n'], 'keys.not_here'],
  [['d', 'Delete'], 'keys.delete'],
  [['g m'], 'keys.memories'],
  [['g r'], 'keys.review'],
  [['g o'], 'keys.overview'],
  [['?'], 'keys.help'],
];

/** @type {Record<string, string>} */
const NAMES = {
  j: 'next',
  ArrowDown: 'next',
  k: 'previous',
  ArrowUp: 'previous',
  Enter: 'open',
  Escape: 'close',
  '/': 'search',
  x: 'select',
  r: 'dismiss',
  u: 'untrue',
  n: 'not_here',
  d: 'delete',
  Delete: 'delete',
  '?': 'help',
};
/** @type {Record<string, string>} */
const AFTER_G = { m: 'memories', r: 'review', o: 'overview' };
const MOVING = new Set(['j', 'k', 'ArrowDown', 'ArrowUp']);
const SEQUENCE_MILLISECONDS = 1500;

/**
 * @param {(name: string) => boolean} perform does what is named; false where it means nothing now
 * @param {() => boolean} blocked
 */
export function listenToKeys(perform, blocked) {
  let wentAt = -Infinity;
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || blocked()) return;
    const typing = isTyping(event.target);
    if (typing && event.key !== 'Escape') return;
    // A key that is held moves on in the list, and does nothing else again.
    if (event.repeat && !MOVING.has(event.key)) return;
    if (typing) {
      /** @type {HTMLElement} */ (event.target).blur();
      return;
    }
    if (event.key === 'g') {
      wentAt = event.timeStamp;
      return;
    }
    const sequence = event.timeStamp - wentAt < SEQUENCE_MILLISECONDS ? AFTER_G[event.key] : undefined;
    wentAt = -Infinity;
    const name = sequence ?? NAMES[event.key];
    // Enter is the control's own where one has the focus.
    if (name === undefined || (name === 'open' && isControl(event.target))) return;
    if (perform(name)) event.preventDefault();
  });
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button', 'submit'].includes(target.type);
  return target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement || target.isContentEditable;
}

/** @param {EventTarget | null} target */
function isControl(target) {
  return target instanceof HTMLElement && target.closest('a, button, summary, input') !== null;
}
