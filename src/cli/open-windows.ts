import { UsageError } from '../errors.js';
import type { ExcerptsSource } from '../load/sources.js';
import type { OutputOptions } from '../sample/excerpt-dataset.js';
import { collectGroups } from './sample-values.js';
import type { WindowFlags } from './window-flags.js';

/** What windows are drawn with, beside their flags. */
export interface WindowSetting {
  sampleRate: number | null;
  jobs: number | undefined;
  seed: number | undefined;
  shuffle: boolean | undefined;
  /** False where other sources are mixed in: then an epoch has each window once, at one place. */
  isAlone: boolean;
  stop: 'first_exhausted' | 'all_exhausted' | undefined;
  signal: AbortSignal;
  onNotice: (message: string) => void;
}

/** Windows as a source of a loader. */
export interface OpenedWindows {
  source: ExcerptsSource;
  /** Draws of an epoch, where there is no end to them; else undefined. */
  epochItems: number | undefined;
  close: () => Promise<void>;
}

/** Names of keys begin with it. */
const NAME = 'windows';

/**
 * The dataset that flags ask for, windows of files or of groups of files; undefined where they ask for none.
 *
 * @throws UsageError when flags do not go together; what the dataset throws.
 */
export async function openWindows(flags: WindowFlags, setting: WindowSetting): Promise<OpenedWindows | undefined> {
  if (!hasWindows(flags)) {
    refuseLone(flags);
    return undefined;
  }
  const { windows, group, scan } = flags;
  if ([windows, group, scan].filter((given) => given !== undefined).length > 1) {
    throw new UsageError('Files of windows are given in more than one way', {
      hint: 'Give --windows PATH, or --group NAME=PATH for each group, or --scan DIR.',
    });
  }
  const output = {
    sampleRate: setting.sampleRate,
    jobs: setting.jobs,
    padMode: flags.padMode,
    signal: setting.signal,
    onNotice: setting.onNotice,
  };
  // Datasets load the codec library, which nothing else in a command that streams needs.
  return await (group === undefined ? openPlain(flags, setting, output) : openGroups(flags, setting, output));
}

/** Whether flags ask for windows at all. */
export function hasWindows({ windows, group, scan }: WindowFlags): boolean {
  return windows !== undefined || group !== undefined || scan !== undefined;
}

type OutputSetting = Pick<OutputOptions, 'sampleRate' | 'jobs' | 'signal' | 'onNotice' | 'padMode'>;

async function openPlain(
  flags: WindowFlags,
  { seed, shuffle, isAlone }: WindowSetting,
  output: OutputSetting,
): Promise<OpenedWindows> {
  if (flags.weight !== undefined) throw new UsageError('--weight is given, and there are no groups');
  const { createWindowedDataset } = await import('../sample/windowed-dataset.js');
  const dataset = await createWindowedDataset({
    ...output,
    ...windowOptions(flags),
    durationSeconds: flags.duration ?? 1,
    sources: flags.windows,
    scan: flags.scan,
    extensions: flags.extensions,
    shuffle,
    shuffleSeed: seed,
    numEpochs: isAlone ? null : 1,
  });
  return {
    source: { type: 'excerpts', name: NAME, dataset },
    epochItems: isAlone ? dataset.plan.slots.length : undefined,
    close: async () => await dataset.close(),
  };
}

async function openGroups(
  flags: WindowFlags,
  { seed, shuffle, isAlone, stop = 'all_exhausted' }: WindowSetting,
  output: OutputSetting,
): Promise<OpenedWindows> {
  const { sources, weights } = collectGroups(flags.group ?? [], flags.weight ?? []);
  const { createBalancedDataset } = await import('../sample/balanced-dataset.js');
  const dataset = await createBalancedDataset({
    ...output,
    sources,
    weights,
    extensions: flags.extensions,
    window: { ...windowOptions(flags), durationSeconds: flags.duration ?? 1 },
    shuffle,
    shuffleSeed: seed,
    numEpochs: isAlone ? null : 1,
    stop: isAlone ? undefined : stop,
  });
  return {
    source: { type: 'excerpts', name: NAME, dataset },
    epochItems: isAlone ? dataset.balance.length([...dataset.epochLengths], stop) : undefined,
    close: async () => await dataset.close(),
  };
}

function windowOptions({ hop, alpha, grid, jitter, lufsCache, lufsCutoff }: WindowFlags): {
  hopSeconds: string | undefined;
  alpha: number | undefined;
  grid: boolean;
  jitter: boolean;
  lufsCache: string | undefined;
  lufsCutoff: number | undefined;
} {
  return { hopSeconds: hop, alpha, grid, jitter, lufsCache, lufsCutoff };
}

/** @throws UsageError */
function refuseLone({ weight, duration, hop, alpha, grid, jitter, padMode, extensions, ...rest }: WindowFlags): void {
  const { lufsCache, lufsCutoff } = rest;
  const values = {
    ...{ '--weight': weight, '--duration': duration, '--hop': hop, '--alpha': alpha, '--pad-mode': padMode },
    ...{ '--grid': grid || undefined, '--no-jitter': jitter ? undefined : true, '--extensions': extensions },
    ...{ '--lufs-cache': lufsCache, '--lufs-cutoff': lufsCutoff },
  };
  const [lone] = Object.entries(values).find(([, value]) => value !== undefined) ?? [];
  if (lone === undefined) return;
  throw new UsageError(`${lone} is of windows, and there are none`, {
    hint: 'Give --windows PATH, --group NAME=PATH or --scan DIR.',
  });
}
