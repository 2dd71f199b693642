import { buildCommand, type FlagParametersForType } from '@stricli/core';
import { backendFlags, type BackendFlags } from '../cluster-flags.js';
import { isDivided, loadDivision } from '../division.js';
import type { CliContext } from '../context.js';
import { nonEmpty, numberWhere, positiveInteger, positiveNumber } from '../values.js';

/** The flags of `cutroom scan`, parsed. */
export interface ScanFlags {
  out: string;
  filepaths?: string;
  base?: string;
  extensions?: readonly string[];
  lufs: boolean;
  lufsWindow?: number;
  sampleRate?: number | 'native';
  mono?: boolean;
  jobs?: number;
  onError: 'fail' | 'skip';
  overwrite: boolean;
  recordingTimeout: number;
  json: boolean;
  quiet: boolean;
  verbose: boolean;
}

/** The same, and where it is done. */
export type ScanCommandFlags = ScanFlags & BackendFlags;

const path = 'path';

/** What `cutroom scan` takes, but how it is divided. */
export const scanFlags: FlagParametersForType<ScanFlags, CliContext> = {
  out: { kind: 'parsed', parse: nonEmpty, placeholder: path, brief: 'The folder of the results' },
  filepaths: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: path,
    brief: 'A list of files: a path a line, or a manifest of JSON objects',
  },
  base: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: path,
    brief: 'Keep paths relative to this folder [absolute; those of a list lie under its folder]',
  },
  extensions: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    variadic: ',',
    placeholder: 'wav,flac',
    brief: 'Which files are taken from folders and patterns [all that hold audio]',
  },
  lufs: { kind: 'boolean', default: false, withNegated: false, brief: 'Measure loudness, by ITU-R BS.1770-4' },
  lufsWindow: {
    kind: 'parsed',
    parse: positiveNumber,
    optional: true,
    placeholder: 'seconds',
    brief: 'Length of a window of loudness [1]',
  },
  sampleRate: {
    kind: 'parsed',
    parse: rateChoice,
    optional: true,
    placeholder: 'Hz',
    brief: 'Bring files to this rate before, or leave them "native" [44100]',
  },
  mono: {
    kind: 'boolean',
    optional: true,
    brief: 'Mix channels to one before; else each counts as the standard says [mono]',
  },
  jobs: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: 'count',
    brief: 'Files read at once [one a core]',
  },
  onError: {
    kind: 'enum',
    values: ['fail', 'skip'],
    default: 'fail',
    brief: 'Exit code where files cannot be read: 1, or 0 all the same; the scan leaves them out',
  },
  overwrite: {
    kind: 'boolean',
    default: false,
    withNegated: false,
    brief: 'Scan everything anew, also in place of a scan of other files or options',
  },
  recordingTimeout: {
    kind: 'parsed',
    parse: positiveNumber,
    default: '300',
    placeholder: 'seconds',
    brief: 'A file whose decoder is silent for so long fails',
  },
  json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print the summary as JSON on stdout' },
  quiet: { kind: 'boolean', default: false, withNegated: false, brief: 'Print errors only' },
  verbose: { kind: 'boolean', default: false, withNegated: false, brief: 'Print each file that cannot be read' },
};

export const scanCommand = buildCommand<ScanCommandFlags, string[], CliContext>({
  loader: async () => {
    const { runScan } = await import('../run-scan.js');
    return async function run(this: CliContext, flags, ...sources) {
      if (!isDivided(flags)) {
        await runScan(this, flags, sources);
        return;
      }
      const [{ divideScan }, { runDivided }] = await loadDivision();
      await runDivided(this, divideScan(flags, sources, this.process.env), flags);
    };
  },
  docs: {
    brief: 'Read lengths, formats and loudness of audio files, for sampling',
    fullDescription: [
      'Finds audio files and writes what they are to scan.jsonl, a row a file: exact length in frames, rate, channels, size and time of change.',
      'With --lufs their loudness too, as wholes and by windows, which go to lufs.bagz and manifest.json as audiotree has them. Lengths of WAV',
      'and FLAC files come from their headers where the files bear them out; other files are decoded. Files that cannot be read go to',
      'failures.jsonl. A scan that was stopped goes on where it was; a later one reads only files whose size or time of change is another.',
      '',
      'EXAMPLE',
      '  cutroom scan /data/speech /data/music --out cache/',
      "  cutroom scan '/data/**/*.flac' --out cache/ --lufs --lufs-window 1.0 --sample-rate 44100 --mono",
    ].join('\n'),
  },
  parameters: {
    positional: {
      kind: 'array',
      parameter: {
        brief: 'Files, folders with all below them, and patterns: *, ?, [a-z], {a,b} and **',
        parse: nonEmpty,
        placeholder: path,
      },
    },
    flags: { ...scanFlags, ...backendFlags },
  },
});

const rate = numberWhere('a whole number of Hz, or native', (value) => Number.isSafeInteger(value) && value > 0);

function rateChoice(text: string): number | 'native' {
  return text === 'native' ? text : rate(text);
}
