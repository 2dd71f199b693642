import { OutputError } from '../errors.js';
import { sizeOf, writeFileAtomic } from '../run/atomic-file.js';
import type { BarChart } from '../sample/histogram.js';
import { chartsAsSvg } from './histogram-svg.js';

/** @throws {OutputError} when the plot is there and may not be replaced. */
export async function refuseEarlierPlot(plot: string | undefined, mayReplace: boolean): Promise<void> {
  if (plot === undefined || mayReplace || (await sizeOf(plot)) === undefined) return;
  throw new OutputError(`"${plot}" is there already`, { path: plot, hint: 'Give another name, or --overwrite.' });
}

/** Writes charts as an SVG file. */
export async function writePlot(plot: string, charts: readonly BarChart[]): Promise<void> {
  await writeFileAtomic(plot, (write) => write(chartsAsSvg(charts)));
}
