import { errorMessage } from '../errors.js';
import { readAudioHeader } from './audio-header.js';
import type { ResolvedPath } from './audio-path-rules.js';
import type { AudioSpan } from './finding.js';
import type { ManifestReport } from './manifest-report.js';

/** The audio that a row means. */
export interface AudioUse {
  /** As in the row. */
  audioPath: string;
  line: number;
  id?: string | undefined;
  startSeconds: number;
  /** Undefined where the row means the rest of the file, or does not say. */
  durationSeconds: number | undefined;
  /** The row means a part of the file on purpose. */
  isPart: boolean;
  /** Spans inside the audio, such as segments: the latest end. */
  latestEndSeconds?: number | undefined;
  hasText: boolean;
}

interface FileFacts {
  resolved: ResolvedPath;
  seconds: number | undefined;
  fault: string | undefined;
}

/** How many files are remembered; the rows of one file mostly stand together. */
const MAX_REMEMBERED = 20_000;
/** How far a duration may be off the length of the file. */
const TOLERANCE_SECONDS = 0.01;

export interface AudioFilesOptions {
  report: ManifestReport;
  resolve: (audioPath: string) => ResolvedPath;
  /** What lies behind the end of the audio: a span of the row, or a segment in it. */
  endKind?: 'end_beyond_audio' | 'segment_beyond_audio';
}

/** Looks at the files that rows name: whether they are there, and whether their headers fit the rows. */
export class AudioFiles {
  readonly #options: AudioFilesOptions;
  readonly #facts = new Map<string, FileFacts>();

  #hasUnmeasured = false;

  constructor(options: AudioFilesOptions) {
    this.#options = options;
  }

  /** Reports what does not fit, and returns where the audio is, if it is there. */
  check(use: AudioUse): string | undefined {
    const { report } = this.#options;
    const facts = this.#factsOf(use.audioPath);
    const { resolved } = facts;
    const { line, id } = use;
    const name = JSON.stringify(use.audioPath);
    if (resolved.kind !== 'file') return undefined;
    if (resolved.converterPath !== undefined) {
      const message = `${name} is another file for NeMo's converter, which takes "${resolved.converterPath}"`;
      report.add('path_rules_differ', line, message, { id });
    }
    if (resolved.isTooLong === true) {
      report.add('long_relative_path', line, `the relative path has ${use.audioPath.length} characters`, { id });
      return undefined;
    }
    if (resolved.isInWorkingFolderOnly === true) {
      const message = `${name} is there from the working folder, and not from the folder of the manifest`;
      report.add('path_rules_differ', line, message, { id });
      return undefined;
    }
    if (!resolved.exists) {
      report.add('audio_missing', line, `there is no file "${resolved.loaderPath}"`, { id });
      return undefined;
    }
    if (facts.fault !== undefined) {
      report.add('unreadable_audio', line, `"${resolved.loaderPath}": ${facts.fault}`, { id });
      return undefined;
    }
    if (facts.seconds === undefined) this.#hasUnmeasured = true;
    else this.#compare(use, facts.seconds);
    return resolved.loaderPath;
  }

  /** What was not looked at. */
  notes(): string[] {
    return this.#hasUnmeasured ? ['lengths of files other than WAV and FLAC are compared with --deep alone'] : [];
  }

  #compare(use: AudioUse, fileSeconds: number): void {
    const { report, endKind = 'end_beyond_audio' } = this.#options;
    const { line, id, startSeconds, durationSeconds } = use;
    const length = `the audio is ${formatSeconds(fileSeconds)} s long by its header`;
    if (startSeconds >= fileSeconds && startSeconds > 0) {
      report.add('offset_beyond_audio', line, `the offset is ${startSeconds} s, and ${length}`, { id });
      return;
    }
    const end = use.latestEndSeconds ?? (durationSeconds === undefined ? 0 : startSeconds + durationSeconds);
    if (!use.isPart && use.latestEndSeconds === undefined) {
      if (durationSeconds !== undefined && Math.abs(durationSeconds - fileSeconds) > TOLERANCE_SECONDS) {
        report.add('duration_mismatch', line, `the duration is ${durationSeconds} s, and ${length}`, { id });
      }
      return;
    }
    if (end > fileSeconds + TOLERANCE_SECONDS) {
      report.add(endKind, line, `it ends at ${formatSeconds(end)} s, and ${length}`, { id });
    }
    if (use.latestEndSeconds !== undefined && durationSeconds !== undefined) {
      if (Math.abs(durationSeconds - fileSeconds) > TOLERANCE_SECONDS) {
        report.add('duration_mismatch', line, `the duration is ${durationSeconds} s, and ${length}`, { id });
      }
    }
  }

  #factsOf(audioPath: string): FileFacts {
    const known = this.#facts.get(audioPath);
    if (known !== undefined) return known;
    const facts = lookAt(this.#options.resolve(audioPath));
    if (this.#facts.size >= MAX_REMEMBERED) this.#facts.clear();
    this.#facts.set(audioPath, facts);
    return facts;
  }
}

/** The span to decode of a row whose file is there. */
export function spanOf(use: AudioUse, audioPath: string, file: string): AudioSpan {
  const { startSeconds, durationSeconds, hasText, line, id } = use;
  return { audioPath, startSeconds, durationSeconds, hasText, file, line, id };
}

function lookAt(resolved: ResolvedPath): FileFacts {
  if (resolved.kind !== 'file' || !resolved.exists) return { resolved, seconds: undefined, fault: undefined };
  try {
    const { seconds, fault } = readAudioHeader(resolved.loaderPath);
    return { resolved, seconds, fault };
  } catch (error) {
    return { resolved, seconds: undefined, fault: errorMessage(error) };
  }
}

function formatSeconds(seconds: number): string {
  return String(Number(seconds.toFixed(3)));
}
