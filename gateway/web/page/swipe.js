// @ts-check
/** Swiping an element sideways by touch: it follows the finger, and past a bound the act of that side happens. */

const START_PIXELS = 12;
const ACT_SHARE = 0.32;
const ACT_PIXELS_MAX = 140;

/**
 * @param {HTMLElement} element its first child of class `row-face` is what moves
 * @param {{enabled: () => boolean, onRight: () => void, onLeft: () => void}} options
 */
export function addSwipe(element, { enabled, onRight, onLeft }) {
  /** @type {{x: number, y: number, id: number, moving: boolean} | null} */
  let start = null;

  element.addEventListener('pointerdown', (event) => {
    if (event.pointerType !== 'touch' || !event.isPrimary || !enabled()) return;
    start = { x: event.clientX, y: event.clientY, id: event.pointerId, moving: false };
  });
  element.addEventListener('pointermove', (event) => {
    if (!start || event.pointerId !== start.id) return;
    const across = event.clientX - start.x;
    if (!start.moving) {
      if (Math.abs(across) < START_PIXELS) return;
      start.moving = true;
      element.setPointerCapture(start.id);
    }
    move(element, across);
  });
  element.addEventListener('pointerup', (event) => {
    if (!start || event.pointerId !== start.id) return;
    const across = event.clientX - start.x;
    const acted = start.moving && Math.abs(across) >= Math.min(element.clientWidth * ACT_SHARE, ACT_PIXELS_MAX);
    if (start.moving) swallowClick(element);
    start = null;
    move(element, 0);
    if (acted && across > 0) onRight();
    if (acted && across < 0) onLeft();
  });
  // The browser took the touch for scrolling.
  element.addEventListener('pointercancel', () => {
    start = null;
    move(element, 0);
  });
}

/** @param {HTMLElement} element @param {number} pixels */
function move(element, pixels) {
  const face = /** @type {HTMLElement | null} */ (element.querySelector('.row-face'));
  if (pixels === 0) {
    delete element.dataset.swiping;
    face?.style.removeProperty('transform');
  } else {
    element.dataset.swiping = pixels > 0 ? 'right' : 'left';
    face?.style.setProperty('transform', `translateX(${pixels}px)`);
  }
}

/** The click that follows a swipe opens nothing. @param {HTMLElement} element */
function swallowClick(element) {
  /** @param {Event} event */
  const swallow = (event) => {
    event.preventDefault();
    event.stopPropagation();
  };
  element.addEventListener('click', swallow, { capture: true, once: true });
  setTimeout(() => element.removeEventListener('click', swallow, { capture: true }), 50);
}
