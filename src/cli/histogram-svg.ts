import type { BarChart } from '../sample/histogram.js';
import { formatValue } from './histogram-bars.js';

// All in user units of the drawing.
const WIDTH = 800;
const MARGIN = 24;
const TITLE_HEIGHT = 32;
const LEGEND_HEIGHT = 22;
const BAR_HEIGHT = 14;
const BAR_GAP = 6;
const CHART_GAP = 28;
const MIN_LABEL_WIDTH = 90;
/** Of a character of a label, a little more than most fonts take. */
const LABEL_CHARACTER = 7;
const VALUE_WIDTH = 64;
const FONT = 'font-family="sans-serif"';
/** Told apart also by those who see few colours (Okabe and Ito, "Color universal design", 2008). */
const COLOURS = ['#0072b2', '#e69f00', '#009e73'] as const;

/** Charts below each other as an SVG file that stands alone. */
export function chartsAsSvg(charts: readonly BarChart[]): string {
  const parts: string[] = [];
  let top = MARGIN;
  for (const chart of charts) {
    const drawn = drawChart(chart, top);
    parts.push(...drawn.lines);
    top = drawn.bottom + CHART_GAP;
  }
  const height = top - CHART_GAP + MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function drawChart(chart: BarChart, top: number): { lines: string[]; bottom: number } {
  const { title, series, unit, bars } = chart;
  const lines = [`<text x="${MARGIN}" y="${top + 14}" ${FONT} font-size="15" fill="#222222">${escape(title)}</text>`];
  let y = top + TITLE_HEIGHT;
  const labelLength = Math.max(0, ...bars.map(({ label }) => label.length));
  const left = MARGIN + Math.max(MIN_LABEL_WIDTH, LABEL_CHARACTER * labelLength + 8);
  if (series.length > 1) {
    lines.push(...drawLegend(series, left, y));
    y += LEGEND_HEIGHT;
  }
  const room = WIDTH - MARGIN - VALUE_WIDTH - left;
  const most = Math.max(...bars.flatMap(({ values }) => values));
  const axisTop = y;
  for (const { label, values } of bars) {
    const middle = y + (values.length * BAR_HEIGHT) / 2;
    lines.push(text(left - 8, middle, 'end', label));
    for (const [at, value] of values.entries()) {
      const width = most > 0 ? (value / most) * room : 0;
      const colour = COLOURS[at % COLOURS.length];
      lines.push(
        `<rect x="${left}" y="${y}" width="${width.toFixed(2)}" height="${BAR_HEIGHT - 2}" fill="${colour}"/>`,
        text(left + width + 6, y + BAR_HEIGHT / 2 - 1, 'start', formatValue(value, unit)),
      );
      y += BAR_HEIGHT;
    }
    y += BAR_GAP;
  }
  lines.push(`<path d="M${left} ${axisTop - 4}V${y - BAR_GAP + 4}" stroke="#888888" fill="none"/>`);
  return { lines, bottom: y - BAR_GAP };
}

function drawLegend(series: readonly string[], left: number, y: number): string[] {
  return series.flatMap((name, at) => {
    const x = left + at * 110;
    return [
      `<rect x="${x}" y="${y - 8}" width="12" height="12" fill="${COLOURS[at % COLOURS.length]}"/>`,
      text(x + 18, y - 2, 'start', name),
    ];
  });
}

/** Text whose middle is at `y`. */
function text(x: number, y: number, anchor: 'start' | 'end', content: string): string {
  const place = `x="${x.toFixed(2)}" y="${(y + 4).toFixed(2)}" text-anchor="${anchor}"`;
  return `<text ${place} ${FONT} font-size="12" fill="#444444">${escape(content)}</text>`;
}

function escape(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
