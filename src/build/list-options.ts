import { availableParallelism } from 'node:os';
import path from 'node:path';
import { UsageError } from '../errors.js';

/** What `generateList` is asked for. Everything but the first three has a default. */
export interface GenerateListOptions {
  /** Pattern of the tars: `*`, `?`, `[…]`, `**` and braces such as `{000..127}`. */
  audioPattern: string;
  /** Folder of the manifests: `<key>.json` or else `<key>.jsonl` for the tar `<key>.tar`. */
  txtDir: string;
  /** The list. An earlier list is replaced, nothing else. */
  output: string;
  /** What the names of tars begin with where those of manifests begin with `txtPrefix`. Default: they are the same. */
  audioPrefix?: string | undefined;
  /** Goes with `audioPrefix`. */
  txtPrefix?: string | undefined;
  /** Writes no list where there is any problem. Default false. */
  strict?: boolean | undefined;
  /** False keeps the order of the pattern. Default true: sorted by the code points of the tars' paths. */
  sort?: boolean | undefined;
  /** Shards read at once. Default: one a core. */
  jobs?: number | undefined;
}

/** `GenerateListOptions` with every default filled in; the paths are absolute. */
export interface ResolvedListOptions {
  audioPattern: string;
  txtDir: string;
  output: string;
  audioPrefix: string;
  txtPrefix: string;
  strict: boolean;
  sort: boolean;
  jobs: number;
}

/**
 * Fills in the defaults and checks what can be checked without looking at a file.
 *
 * @throws UsageError when a path is empty, or a prefix lacks its counterpart
 * @throws RangeError when `jobs` is no whole number from 1 on
 */
export function resolveListOptions(options: GenerateListOptions): ResolvedListOptions {
  const { audioPattern, txtDir, output, audioPrefix = '', txtPrefix = '', strict = false, sort = true } = options;
  for (const [name, value] of Object.entries({ 'audio pattern': audioPattern, 'txt dir': txtDir, output })) {
    if (value === '') throw new UsageError(`The ${name} is empty`);
  }
  if ((audioPrefix === '') !== (txtPrefix === '')) {
    throw new UsageError('--audio-prefix and --txt-prefix go together', {
      hint: 'Give both: the one is replaced by the other.',
    });
  }
  const jobs = options.jobs ?? availableParallelism();
  if (!Number.isSafeInteger(jobs) || jobs < 1)
    throw new RangeError(`jobs must be a whole number from 1 on, not ${jobs}`);
  return {
    audioPattern,
    txtDir: path.resolve(txtDir),
    output: path.resolve(output),
    audioPrefix,
    txtPrefix,
    strict,
    sort,
    jobs,
  };
}
