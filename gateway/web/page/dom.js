// @ts-check
/** Making elements of HTML and SVG without markup: text is always text, and no style stands in an attribute. */

const SVG = 'http://www.w3.org/2000/svg';

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * An HTML element. A property that starts with `on` and holds a function is a listener; true is an empty attribute;
 * false, null and undefined are no attribute; `testid` is `data-testid`.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {any} the element, of the class that belongs to the tag
 */
export function html(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * An SVG element; attributes and children as those of `html`.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * @template {Element} T
 * @param {T} element
 * @param {Record<string, unknown>} attributes
 * @param {(Child | Child[])[]} children
 * @returns {T}
 */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on') && typeof value === 'function') {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (value === true) {
      element.setAttribute(name === 'testid' ? 'data-testid' : name, '');
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name === 'testid' ? 'data-testid' : name, String(value));
    }
  }
  element.append(.../** @type {(Node | string)[]} */ (children.flat().filter(isShown).map(asNode)));
  return element;
}

/** @param {Child} child */
function isShown(child) {
  return child !== null && child !== undefined && child !== false && child !== '';
}

/** @param {Child} child */
function asNode(child) {
  return typeof child === 'number' ? String(child) : child;
}
