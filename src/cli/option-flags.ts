import { InputError, UsageError } from '../errors.js';

/** Options of a plan whose flag has another name than theirs. */
const OTHER_NAMES: Readonly<Record<string, string>> = { bucketCount: '--buckets' };

/** Options that are one word are words of sentences, too: those stay as they are. */
const OPTION_NAMES = new RegExp(
  `(?<![\\w-])(?:${[
    ...['maxDuration', 'batchDuration', 'quadraticDuration', 'batchSize', 'maxSamples', 'bucketCount', 'tokenBuckets'],
    ...['bucketBatchSizes', 'bucketWindow', 'bucketOrder', 'lastBatch', 'epochItems', 'numCopies', 'worldSize'],
    ...['sampleRate', 'maxFailures', 'onItemError'],
  ].join('|')})(?!\\w)`,
  'gu',
);

/** A text of the library with its options named as flags: `batchSize is 4` becomes `--batch-size is 4`. */
export function withFlagNames(text: string): string {
  return text
    .replaceAll(/let (\w+) be "(\w+)"(?: or "(\w+)")?/gu, (_, name: string, value: string, other?: string) => {
      const flag = toFlag(name);
      return `give ${flag} ${value}${other === undefined ? '' : ` or ${flag} ${other}`}`;
    })
    .replaceAll(/let strict2d be false/gu, 'give --lenient-bins')
    .replaceAll(/[Uu]se strategy "(\w+)"/gu, 'give --strategy $1')
    .replaceAll(OPTION_NAMES, (name) => OTHER_NAMES[name] ?? toFlag(name))
    .replace(/^./u, (letter) => letter.toUpperCase());
}

function toFlag(option: string): string {
  return `--${option.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Does what the library does, and tells its errors with the names of flags. What a number is out of range of is a wrong flag. */
export function inFlagNames<Result>(action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(withFlagNames(error.message), { cause: error });
    if (error instanceof UsageError) {
      throw new UsageError(withFlagNames(error.message), { hint: hintOf(error), cause: error });
    }
    if (error instanceof InputError) {
      const { path, line, offsetBytes } = error;
      throw new InputError(withFlagNames(error.message), {
        path,
        line,
        offsetBytes,
        hint: hintOf(error),
        cause: error,
      });
    }
    throw error;
  }
}

function hintOf({ hint }: UsageError | InputError): string | undefined {
  return hint === undefined ? undefined : withFlagNames(hint);
}
