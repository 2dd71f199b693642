import { statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { AudioError } from '../audio/audio-error.js';
import { measureByHeader } from '../audio/header-measure.js';
import { IndexFolder } from '../audio/index-folder.js';
import { keepIndex } from '../audio/keep-index.js';
import { measureLoudness } from '../audio/loudness.js';
import { measureRecording } from '../audio/measure-recording.js';
import type { RecordingMeasure } from '../audio/measure-recording.js';
import { isIndexedKind } from '../audio/open-block-source.js';
import { errorMessage, systemCode } from '../errors.js';
import { serveJobs, type Report } from '../run/pool-child.js';
import { mtimeMicrosOf } from './scan-job.js';
import type { FileOutcome, JobFile, ScanJob } from './scan-job.js';
import type { FileFacts } from './scan-types.js';

/** A job ends early after so long, so that what it found is noted. */
const JOB_MS = 1000;
/** Files read from their headers between two signs of life. */
const FILES_A_REPORT = 32;

serveJobs<ScanJob>(async ({ files, loudness, indexFolder }, report) => {
  const outcomes: FileOutcome[] = [];
  const startMs = performance.now();
  for (const file of files) {
    const outcome = await readFile(file, loudness, report);
    outcomes.push(indexFolder === undefined ? outcome : await withIndex(file, outcome, indexFolder, report));
    if (performance.now() - startMs > JOB_MS) break;
    if (outcomes.length % FILES_A_REPORT === 0) await report(undefined);
  }
  return outcomes;
});

async function readFile(
  { filepath, known }: JobFile,
  loudness: ScanJob['loudness'],
  report: Report,
): Promise<FileOutcome> {
  try {
    const before = statSync(filepath, { throwIfNoEntry: false });
    if (before !== undefined && known !== undefined && isSame(before, known)) return { kind: 'unchanged' };
    const read = await measure(filepath, loudness, report);
    const after = statSync(filepath, { throwIfNoEntry: false });
    if (before === undefined || after === undefined || !isSame(after, placeOf(before))) {
      const message = `Cannot read "${filepath}": it changed while it was read`;
      return { kind: 'failed', reason: 'changed_while_read', message, hint: 'Scan again when it is left alone.' };
    }
    return { ...read, facts: { ...read.facts, ...placeOf(before) } };
  } catch (error) {
    if (error instanceof AudioError) {
      return { kind: 'failed', reason: error.reason, message: error.message, hint: error.hint };
    }
    const message = `Cannot read "${filepath}": ${errorMessage(error)}`;
    const isOfSystem = systemCode(error)?.startsWith('ERR_') === false;
    const reason = isOfSystem ? 'unreadable_recording' : 'decoder_failed';
    return { kind: 'failed', reason, message, hint: undefined };
  }
}

/** Once what the file is was found, whoever draws windows of it is spared the first pass. */
async function withIndex(
  { filepath, name = filepath, known }: JobFile,
  outcome: FileOutcome,
  indexFolder: string,
  report: Report,
): Promise<FileOutcome> {
  if (outcome.kind === 'failed') return outcome;
  const read = outcome.kind === 'read' ? outcome.facts : undefined;
  const frames = read === undefined ? known?.indexedFrames : isIndexedKind(read) ? read.frames : undefined;
  if (frames === undefined) return outcome;
  const notices: string[] = [];
  const folder = new IndexFolder(
    indexFolder,
    (message) => void notices.push(message),
    () => name,
  );
  try {
    const isMade = await keepIndex(filepath, frames, folder, () => report(undefined));
    return { ...outcome, index: { isMade, notices } };
  } catch (error) {
    notices.push(`There is no index of "${filepath}": ${errorMessage(error)}`);
    return { ...outcome, index: { isMade: false, notices } };
  }
}

async function measure(
  filepath: string,
  settings: ScanJob['loudness'],
  report: Report,
): Promise<Extract<FileOutcome, { kind: 'read' }>> {
  const onPosition = (): Promise<void> => report(undefined);
  if (settings === undefined) {
    const measured = measureByHeader(filepath) ?? (await measureRecording(filepath, onPosition));
    return { kind: 'read', facts: factsOf(measured), loudness: undefined, windows: undefined };
  }
  const { measure: measured, windows, ...loudness } = await measureLoudness(filepath, settings, onPosition);
  return { kind: 'read', facts: factsOf(measured), loudness, windows };
}

/** Size and time are filled in by the caller. */
function factsOf({ frames, sampleRate, channels, container, codec }: RecordingMeasure): FileFacts {
  return { frames, sampleRate, channels, container, codec, sizeBytes: 0, mtimeMicros: 0 };
}

function placeOf(stats: Stats): { sizeBytes: number; mtimeMicros: number } {
  return { sizeBytes: stats.size, mtimeMicros: mtimeMicrosOf(stats) };
}

function isSame(stats: Stats, { sizeBytes, mtimeMicros }: { sizeBytes: number; mtimeMicros: number }): boolean {
  return stats.size === sizeBytes && mtimeMicrosOf(stats) === mtimeMicros;
}
