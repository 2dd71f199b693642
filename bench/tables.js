// Sets figures as Markdown tables.

/**
 * A table whose columns line up in plain text too.
 *
 * @param {string[]} head
 * @param {string[][]} rows
 * @returns {string}
 */
export function markdownTable(head, rows) {
  const widths = head.map((title, k) => Math.max(3, title.length, ...rows.map((row) => row[k].length)));
  const line = (cells) => `| ${cells.map((cell, k) => align(cell, widths[k], k)).join(' | ')} |\n`;
  const rule = widths.map((width, k) => (k === 0 ? '-'.repeat(width) : '-'.repeat(width - 1) + ':'));
  return line(head) + line(rule) + rows.map(line).join('');
}

/** The first column is text, the others are figures. */
function align(cell, width, column) {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}

/** A number with so many decimals; a dash for one that is not there. */
export function figure(value, decimals = 1) {
  return value === undefined ? '–' : value.toFixed(decimals);
}

/** A ratio with its target; a dash for one that is not there. */
export function ratio(value, target) {
  if (value === undefined) return '–';
  return target === undefined ? value.toFixed(2) : `${value.toFixed(2)} (≤ ${target.toFixed(1)})`;
}

/** The middle one, or the mean of the two in the middle; undefined of none. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  if (sorted.length === 0) return undefined;
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
