import type { FlagParametersForType } from '@stricli/core';
import type { CliContext } from './context.js';
import { batchSizes, binsFlag, sourceFlag, speedList, type BinsFlag, type SourceFlag } from './load-values.js';
import { nonEmpty, nonNegativeNumber, numberWhere, positiveInteger, positiveNumber } from './values.js';

/** Flags that say what is loaded, parsed; of every command that reads sources. */
export interface SourceFlags {
  source?: readonly SourceFlag[];
  manifest?: readonly string[];
  tars?: readonly string[];
  staticBuckets: boolean;
  config?: string;
  section?: string;
  temperature?: number;
}

/** Flags that say which rows are kept. */
export interface RowFlags {
  minLength?: number;
  maxLength?: number;
  minCharRate?: number;
  maxCharRate?: number;
  minTokenRate?: number;
  maxTokenRate?: number;
  minTokens?: number;
  maxTokens?: number;
  tokenizer?: string;
  onError: 'fail' | 'skip';
}

/** Flags that say what a batch may hold. */
export interface LimitFlags {
  maxDuration?: number;
  batchDuration?: number;
  quadraticDuration?: number;
  batchSize?: number;
  maxSamples?: number;
}

/** Flags that say how batches are planned. */
export interface PlanFlags extends LimitFlags {
  buckets?: number;
  tokenBuckets?: number;
  bins?: BinsFlag;
  bucketBatchSizes?: readonly number[] | number;
  bucketWindow?: number;
  bucketOrder?: 'synced_randomized' | 'fixed_order' | 'fully_randomized';
  lenientBins?: boolean;
  seed?: number;
  shuffle?: boolean;
  strategy?: 'exact' | 'scatter' | 'replicate';
  strict?: boolean;
  lastBatch?: 'partial' | 'pad' | 'drop';
  oversized?: 'error' | 'drop' | 'alone';
  stop?: 'first_exhausted' | 'all_exhausted';
  epochItems?: number;
  numCopies?: number;
  speeds?: readonly number[];
}

const count = 'count';
const seconds = 'seconds';
const number = 'number';
const wholeNumber = numberWhere('a whole number of 0 or more', (value) => Number.isSafeInteger(value) && value >= 0);

/** Of `SourceFlags`. */
export const SOURCE_FLAGS: FlagParametersForType<SourceFlags, CliContext> = {
  source: {
    kind: 'parsed',
    parse: sourceFlag,
    variadic: true,
    optional: true,
    placeholder: 'NAME=PATH:WEIGHT',
    brief: 'A .lst, a NeMo manifest, a dataset of cut, build or tar; name [the path] and weight may be left out',
  },
  manifest: {
    kind: 'parsed',
    parse: nonEmpty,
    variadic: true,
    optional: true,
    placeholder: 'pattern',
    brief: 'NeMo manifests, with the braces of NeMo: manifest__OP_0..63_CL_.json',
  },
  tars: {
    kind: 'parsed',
    parse: nonEmpty,
    variadic: true,
    optional: true,
    placeholder: 'pattern',
    brief: 'Tars of the manifests: one pattern for each --manifest, or several for one manifest',
  },
  staticBuckets: {
    kind: 'boolean',
    default: false,
    withNegated: false,
    brief: "Sources are buckets in their order, as NeMo's lists of lists",
  },
  config: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: 'path',
    brief: 'A YAML file with input_cfg and options, as NeMo takes it; flags go before its options',
  },
  section: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: 'a.b',
    brief: 'Where in the YAML it stands, such as model.train_ds [all of it]',
  },
  temperature: {
    kind: 'parsed',
    parse: nonNegativeNumber,
    optional: true,
    placeholder: number,
    brief: 'Each weight w becomes w^temperature: 1 keeps them, 0 makes all equal [1]',
  },
};

/** Of `RowFlags`. */
export const ROW_FLAGS: FlagParametersForType<RowFlags, CliContext> = {
  minLength: {
    kind: 'parsed',
    parse: nonNegativeNumber,
    optional: true,
    placeholder: seconds,
    brief: 'Leave out shorter rows [no bound]',
  },
  maxLength: {
    kind: 'parsed',
    parse: positiveNumber,
    optional: true,
    placeholder: seconds,
    brief: 'Leave out longer rows [no bound]',
  },
  minCharRate: {
    kind: 'parsed',
    parse: nonNegativeNumber,
    optional: true,
    placeholder: number,
    brief: 'Leave out rows with fewer characters a second [no bound]',
  },
  maxCharRate: {
    kind: 'parsed',
    parse: positiveNumber,
    optional: true,
    placeholder: number,
    brief: 'Leave out rows with more characters a second [no bound]',
  },
  minTokenRate: {
    kind: 'parsed',
    parse: nonNegativeNumber,
    optional: true,
    placeholder: number,
    brief: 'Leave out rows with fewer tokens a second; needs --tokenizer [no bound]',
  },
  maxTokenRate: {
    kind: 'parsed',
    parse: positiveNumber,
    optional: true,
    placeholder: number,
    brief: 'Leave out rows with more tokens a second; needs --tokenizer [no bound]',
  },
  minTokens: {
    kind: 'parsed',
    parse: wholeNumber,
    optional: true,
    placeholder: count,
    brief: 'Leave out rows with fewer tokens; needs --tokenizer [no bound]',
  },
  maxTokens: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: count,
    brief: 'Leave out rows with more tokens; needs --tokenizer [no bound]',
  },
  tokenizer: {
    kind: 'parsed',
    parse: nonEmpty,
    optional: true,
    placeholder: 'words|path|id',
    brief: 'Counts the tokens: built-in words, folder, tokenizer.json or Hub repository [characters are counted]',
  },
  onError: {
    kind: 'enum',
    values: ['fail', 'skip'],
    default: 'fail',
    brief: 'Rows that are faulty: end with 1, or leave them out',
  },
};

/** Of `LimitFlags`. */
export const LIMIT_FLAGS: FlagParametersForType<LimitFlags, CliContext> = {
  maxDuration: {
    kind: 'parsed',
    parse: positiveNumber,
    optional: true,
    placeholder: seconds,
    brief: 'The most of a batch with its padding: longest item · items. For rows there is --max-length',
  },
  batchDuration: {
    kind: 'parsed',
    parse: positiveNumber,
    optional: true,
    placeholder: seconds,
    brief: 'The same, but each d counts as d + d²/Q with --quadratic-duration',
  },
  quadraticDuration: {
    kind: 'parsed',
    parse: positiveNumber,
    optional: true,
    placeholder: seconds,
    brief: 'The Q of --batch-duration [no square]',
  },
  batchSize: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: count,
    brief: 'Items of a batch',
  },
  maxSamples: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: count,
    brief: 'The most items of a batch, beside a limit in seconds',
  },
};

/** Of `PlanFlags`. */
export const PLAN_FLAGS: FlagParametersForType<PlanFlags, CliContext> = {
  ...LIMIT_FLAGS,
  buckets: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: count,
    brief: 'Batches hold items of one of so many buckets of equal time [1]',
  },
  tokenBuckets: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: count,
    brief: 'Each bucket is divided into so many by tokens',
  },
  bins: {
    kind: 'parsed',
    parse: binsFlag,
    optional: true,
    placeholder: '2.5,5,10',
    brief: 'Upper bounds of the buckets, or a file of cutroom bins, in place of --buckets',
  },
  bucketBatchSizes: {
    kind: 'parsed',
    parse: batchSizes,
    optional: true,
    placeholder: '32,16,8',
    brief: 'Items of a batch of each bucket; one number b gives bucket i of B (B - i) · b, as in NeMo, i from 0',
  },
  bucketWindow: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: count,
    brief: 'Items in their new order that buckets are filled from at a time [10000]',
  },
  bucketOrder: {
    kind: 'enum',
    values: ['synced_randomized', 'fixed_order', 'fully_randomized'],
    optional: true,
    brief: 'Of static buckets: one order for all ranks, as listed, or one a rank [synced_randomized]',
  },
  lenientBins: {
    kind: 'boolean',
    optional: true,
    withNegated: false,
    brief: 'Items with too many tokens for their duration go to the first bucket that has room for both',
  },
  seed: {
    kind: 'parsed',
    parse: wholeNumber,
    optional: true,
    placeholder: number,
    brief: 'Decides the order [0]',
  },
  shuffle: {
    kind: 'boolean',
    optional: true,
    brief: 'An order of its own for each epoch, or that of the sources [shuffle]',
  },
  strategy: {
    kind: 'enum',
    values: ['exact', 'scatter', 'replicate'],
    optional: true,
    brief: 'Deal out batches of all rows, shards as NeMo does, or all shards to every rank [exact]',
  },
  strict: {
    kind: 'boolean',
    optional: true,
    withNegated: false,
    brief: 'Refuse a strategy that loses or repeats rows',
  },
  lastBatch: {
    kind: 'enum',
    values: ['partial', 'pad', 'drop'],
    optional: true,
    brief: 'Equal steps by splitting the last batches, repeating rows, or leaving rows out [partial]',
  },
  oversized: {
    kind: 'enum',
    values: ['error', 'drop', 'alone'],
    optional: true,
    brief: 'A row that is alone above a limit: end with an error, leave it out, or let it be a batch [error]',
  },
  stop: {
    kind: 'enum',
    values: ['first_exhausted', 'all_exhausted'],
    optional: true,
    brief: 'When an epoch of weighted sources ends [all_exhausted]',
  },
  epochItems: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: count,
    brief: 'Items of an epoch of weighted sources, in place of --stop',
  },
  numCopies: {
    kind: 'parsed',
    parse: positiveInteger,
    optional: true,
    placeholder: count,
    brief: 'Each item so many times in its batch; limits count them all [1]',
  },
  speeds: {
    kind: 'parsed',
    parse: speedList,
    optional: true,
    placeholder: '0.9,1,1.1',
    brief: 'Each item gets one of these speeds; faster is shorter [1]',
  },
};
