// @ts-check
/** How long ago, how far ahead, and at what time of the day: in the person's language. */

import { language, locale } from '../texts.js';

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

/** The units in which a distance is told, each from so many milliseconds on. */
const UNITS = /** @type {const} */ ([
  ['year', 365 * DAY],
  ['month', 30 * DAY],
  ['week', 7 * DAY],
  ['day', DAY],
  ['hour', 60 * MINUTE],
  ['minute', MINUTE],
]);

/**
 * A moment as seen from now, such as "3 weeks ago".
 * @param {Date} at
 * @param {Date} now
 */
export function relativeText(at, now) {
  const distance = at.getTime() - now.getTime();
  const found = UNITS.find(([, from]) => Math.abs(distance) >= from);
  if (found === undefined) return new Intl.RelativeTimeFormat(language(), { numeric: 'auto' }).format(0, 'second');
  const [unit, length] = found;
  return new Intl.RelativeTimeFormat(language()).format(Math.trunc(distance / length), unit);
}

/** The time of the day, to the minute. @param {Date} at */
export function clockText(at) {
  return new Intl.DateTimeFormat(locale(), { timeStyle: 'short' }).format(at);
}

/** The short name of a month. @param {string} month as YYYY-MM */
export function monthName(month) {
  return new Intl.DateTimeFormat(locale(), { month: 'short', timeZone: 'UTC' }).format(new Date(`${month}-01T00:00:00Z`));
}
