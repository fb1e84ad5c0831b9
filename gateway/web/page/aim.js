// @ts-check
/**
 * What a press of the pointer is aimed at. Where an act has moved the page under a resting pointer, a press meets what
 * nobody aimed at: for a short while it does nothing, unless the pointer has gone elsewhere first. Keys are not concerned.
 */

const REST_MILLISECONDS = 600;
/** How far a hand that rests may tremble. */
const REST_PIXELS = 8;

/** Where the pointer is. */
const pointer = { x: 0, y: 0 };
/** Where it was when the page moved, and until when it is taken to rest there. */
let rest = { x: 0, y: 0, until: 0 };

/** The page has moved: what lies under the pointer now is not what lay there before. */
export function pageMoved() {
  rest = { ...pointer, until: performance.now() + REST_MILLISECONDS };
}

/** Lets go by what was not aimed at, from now on. */
export function watchAim() {
  for (const name of ['pointermove', 'pointerdown']) {
    addEventListener(name, (event) => Object.assign(pointer, placeOf(event)), { capture: true, passive: true });
  }
  addEventListener('click', letGoBy, { capture: true });
}

/** @param {MouseEvent} event */
function letGoBy(event) {
  const { x, y } = placeOf(event);
  const isByKey = event.detail === 0;
  if (isByKey || performance.now() >= rest.until || Math.hypot(x - rest.x, y - rest.y) > REST_PIXELS) return;
  event.preventDefault();
  event.stopPropagation();
}

/** @param {Event} event */
function placeOf(event) {
  const { clientX, clientY } = /** @type {MouseEvent} */ (event);
  return { x: clientX, y: clientY };
}
