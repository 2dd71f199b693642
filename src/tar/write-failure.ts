import { CutroomError, errorMessage, OutputError, systemCode } from '../errors.js';

export interface WriteFailureContext {
  /** What could not be done, as the start of a sentence: `Cannot write`. */
  action: string;
  /** The file or folder at fault. */
  path: string;
  /** How many bytes were still to be written, for the hint of a full disk. */
  neededBytes?: number | undefined;
}

/**
 * The error to throw when a file operation on an output failed: an `OutputError` that names the path, the state in words and the remedy.
 * Errors of this package pass unchanged.
 */
export function writeFailure(error: unknown, context: WriteFailureContext): CutroomError {
  if (error instanceof CutroomError) return error;
  const { action, path, neededBytes } = context;
  const reason = REASONS[systemCode(error) ?? ''];
  return new OutputError(`${action} "${path}": ${reason?.state ?? errorMessage(error)}`, {
    path,
    cause: error,
    hint: reason?.needsSpace === true ? spaceHint(neededBytes) : reason?.hint,
  });
}

interface Reason {
  state: string;
  hint?: string;
  needsSpace?: boolean;
}

const REASONS: Readonly<Record<string, Reason>> = {
  ENOSPC: { state: 'no space left on the disk', needsSpace: true },
  EDQUOT: { state: 'the disk quota is used up', needsSpace: true },
  EFBIG: {
    state: 'the file would get larger than the file system or a limit allows',
    hint: 'Write fewer or smaller files a shard, or raise the limit ("ulimit -f").',
  },
  EACCES: { state: 'permission denied', hint: 'Choose a folder that you may write to, or change its permissions.' },
  EPERM: {
    state: 'the operation is not permitted',
    hint: 'Choose a folder that you may write to, or change its permissions.',
  },
  EROFS: { state: 'the file system is read-only', hint: 'Choose a folder on a file system that can be written to.' },
  EISDIR: { state: 'it is a folder', hint: 'Give the path of a file, or move the folder away.' },
  ENOTDIR: {
    state: 'a part of the path is a file, not a folder',
    hint: 'Choose another path, or move that file away.',
  },
  EEXIST: { state: 'a file stands where a folder is needed', hint: 'Choose another path, or move that file away.' },
  ENAMETOOLONG: {
    state: 'the name is too long for the file system',
    hint: 'Choose a shorter name; most file systems allow 255 bytes, of which a partial file needs 8.',
  },
  ENOENT: { state: 'its folder does not exist', hint: 'Make the folder first.' },
  EXDEV: { state: 'the two places are on different file systems', hint: 'Keep partial and final files in one folder.' },
  EIO: {
    state: 'the disk or the network file system reports an input/output error',
    hint: 'Check the disk and its connection, then run the same command again.',
  },
  ESTALE: {
    state: 'the network file system lost the file',
    hint: 'Check that the file system is still mounted, then run the same command again.',
  },
  EMFILE: { state: 'too many files are open', hint: 'Use fewer jobs, or raise the limit of open files ("ulimit -n").' },
  ENFILE: { state: 'too many files are open on this machine', hint: 'Use fewer jobs, or end other programs.' },
};

function spaceHint(neededBytes: number | undefined): string {
  const amount = neededBytes === undefined ? 'some space' : `at least ${neededBytes.toLocaleString('en-US')} bytes`;
  return `Free ${amount} there and run the same command again.`;
}
