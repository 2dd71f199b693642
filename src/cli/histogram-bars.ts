import type { BarChart } from '../sample/histogram.js';
import { number } from './sample-summary.js';

const BAR = '#';
const MIN_BAR_COLUMNS = 10;
const MAX_BAR_COLUMNS = 100;

/** Charts as lines of plain characters, at most `columns` wide where that leaves room for bars at all. */
export function formatBars(charts: readonly BarChart[], columns: number): string {
  return charts.map((chart) => formatChart(chart, columns)).join('\n\n');
}

function formatChart({ title, series, unit, bars }: BarChart, columns: number): string {
  const isNamed = series.length > 1;
  const values = bars.flatMap((bar) => bar.values);
  const most = Math.max(...values);
  const labelWidth = Math.max(...bars.map(({ label }) => label.length));
  const nameWidth = isNamed ? Math.max(...series.map((name) => name.length)) + 2 : 0;
  const valueWidth = Math.max(...values.map((value) => formatValue(value, unit).length));
  const room = columns - 2 - labelWidth - nameWidth - 2 - valueWidth - 2;
  const width = Math.min(MAX_BAR_COLUMNS, Math.max(MIN_BAR_COLUMNS, room));
  const lines = bars.flatMap((bar) =>
    bar.values.map((value, at) => {
      const label = (at === 0 ? bar.label : '').padEnd(labelWidth);
      const name = isNamed ? `  ${(series[at] ?? '').padEnd(nameWidth - 2)}` : '';
      // What is there at all is shown.
      const marks = value > 0 ? Math.max(1, Math.round((value / most) * width)) : 0;
      const text = formatValue(value, unit).padStart(valueWidth);
      return `  ${label}${name}  ${text}  ${BAR.repeat(marks)}`.trimEnd();
    }),
  );
  return [title, ...lines].join('\n');
}

/** A value of a chart, as it is read. */
export function formatValue(value: number, unit: BarChart['unit']): string {
  return unit === 'share' ? `${(value * 100).toFixed(1)}%` : number(value);
}
