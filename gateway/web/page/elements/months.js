// @ts-check
/**
 * Months of formation by year, the empty ones between filled in, a long emptiness left out. Pure: no DOM, no clock.
 */

/** The longest run of empty months that is drawn; a longer one is left out. */
const EMPTY_MONTHS_MAX = 6;

/**
 * One month with its count, itself as YYYY-MM, its first day and that of the next in UTC, as YYYY-MM-DD.
 * @typedef {{year: number, month: string, count: number, after: string, before: string}} Month
 */

/**
 * The months in order, by year.
 * @param {{month: string, count: number}[]} counted as memoryOverview answers them: YYYY-MM, in order
 * @returns {{year: number, months: Month[]}[]}
 */
export function monthsByYear(counted) {
  /** @type {{year: number, months: Month[]}[]} */
  const years = [];
  const put = (/** @type {Month} */ month) => {
    if (years.at(-1)?.year !== month.year) years.push({ year: month.year, months: [] });
    years[years.length - 1].months.push(month);
  };
  let next = Infinity;
  for (const { month, count } of counted) {
    const index = Number(month.slice(0, 4)) * 12 + Number(month.slice(5, 7)) - 1;
    if (index - next <= EMPTY_MONTHS_MAX) for (; next < index; next += 1) put(monthAt(next, 0));
    put(monthAt(index, count));
    next = index + 1;
  }
  return years;
}

/** @param {number} index months since the year 0 @param {number} count @returns {Month} */
function monthAt(index, count) {
  const year = Math.floor(index / 12);
  const after = start(year, index % 12);
  return { year, month: after.slice(0, 7), count, after, before: start(year, (index % 12) + 1) };
}

/** @param {number} year @param {number} month */
function start(year, month) {
  return new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10);
}
