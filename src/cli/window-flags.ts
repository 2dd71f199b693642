import type { FlagParametersForType } from '@stricli/core';
import type { CliContext } from './context.js';
import { groupFlag, positiveDecimal, weightFlag, type GroupFlag, type WeightFlag } from './sample-values.js';
import { finiteNumber, nonEmpty, numberWhere } from './values.js';

/** Flags of windows that are drawn from long and short files, parsed. */
export interface WindowFlags {
  windows?: readonly string[];
  group?: readonly GroupFlag[];
  weight?: readonly WeightFlag[];
  scan?: string;
  duration?: string;
  hop?: string;
  alpha?: number;
  jitter: boolean;
  grid: boolean;
  padMode?: 'constant' | 'edge' | 'reflect' | 'symmetric' | 'wrap';
  extensions?: readonly string[];
  lufsCache?: string;
  lufsCutoff?: number;
}

const path = 'path';

/** Of `WindowFlags`. */
export const WINDOW_FLAGS: FlagParametersForType<WindowFlags, CliContext> = {
  windows: {
    kind: 'parsed',
    parse: nonEmpty,
    variadic: true,
    optional: true,
    placeholder: path,
    brief: 'Draw windows from these files, folders and patterns, as cutroom sample does',
  },
  group: {
    kind: 'parsed',
    parse: groupFlag,
    variadic: true,
    optional: true,
    placeholder: 'NAME=PATH:WEIGHT',
    brief: 'In place of --windows: files of a group, and what it counts for [1]',
  },
  weight: {
    kind: 'parsed',
    parse: weightFlag,
    variadic: true,
    optional: true,
    placeholder: 'NAME=NUMBER',
    brief: 'The weight of a group, apart from its path',
  },
  scan: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: path,
    brief: 'In place of --windows: all files of a folder of cutroom scan, which knows their lengths',
  },
  duration: {
    kind: 'parsed',
    parse: positiveDecimal,
    optional: true,
    placeholder: 'seconds',
    brief: 'Length of a window [1]',
  },
  hop: {
    kind: 'parsed',
    parse: positiveDecimal,
    optional: true,
    placeholder: 'seconds',
    brief: 'Distance of the windows that a file is counted in [the duration]',
  },
  alpha: {
    kind: 'parsed',
    parse: numberWhere('a number from 0 to 1', (value) => value >= 0 && value <= 1),
    optional: true,
    placeholder: '0–1',
    brief: 'From one slot a file (0) to one a window (1) [1]',
  },
  jitter: { kind: 'boolean', default: true, brief: 'Draw each window anywhere in its slot, anew each epoch' },
  grid: {
    kind: 'boolean',
    default: false,
    withNegated: false,
    brief: 'Windows start at multiples of the hop alone',
  },
  padMode: {
    kind: 'enum',
    values: ['constant', 'edge', 'reflect', 'symmetric', 'wrap'],
    optional: true,
    brief: 'How windows of shorter files are filled up [constant]',
  },
  extensions: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    variadic: ',',
    placeholder: 'wav,flac',
    brief: 'Which files are taken from folders and patterns [all that hold audio]',
  },
  lufsCache: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: path,
    brief: 'Folder of a loudness cache: quiet windows are not drawn',
  },
  lufsCutoff: {
    kind: 'parsed',
    parse: finiteNumber,
    optional: true,
    placeholder: 'LUFS',
    brief: 'Loudness that each part of a window must have [-40 with a cache]',
  },
};
