// Small corpora, and runs of `cut()` over them in this process and in others.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'vitest';
import { expect } from 'vitest';
import { cut } from '#cutroom/cut/cut.js';
import type { CutContext, CutResult } from '#cutroom/cut/cut.js';
import type { CutOptions } from '#cutroom/cut/options.js';
import { truncated } from './broken-files.js';
import { patchFile, writeEncoded } from './encode.js';
import { interleaveChannels, makeNoise, makeSpeechBursts } from './signals.js';
import { buildWav } from './wav-files.js';

/** The tests of children and signals look into `/proc`. */
export const HAS_PROC = readdirSync('/').includes('proc') && readFileSync('/proc/self/stat', 'utf8') !== '';

/** Makes a folder for one test. */
export async function makeFolder(context: Pick<TestContext, 'onTestFinished'>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'cutroom-run-'));
  context.onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A manifest, its recordings, and the options that cut them into `out` beside them. */
export interface Corpus {
  folder: string;
  options: CutOptions;
}

/** A row of a manifest, and what makes its recording, if it is to exist. */
export interface CorpusRecording {
  id: string;
  file: string;
  segments: readonly { start: number; end: number; text: string }[];
  write?: (filePath: string) => void | Promise<void>;
}

/** Segments of `length` seconds, one every `every` seconds. */
export function makeSegments(count: number, every: number, length: number): CorpusRecording['segments'] {
  return Array.from({ length: count }, (_, k) => ({ start: k * every, end: k * every + length, text: `segment ${k}` }));
}

/** Writes recordings and manifest; each segment becomes a snippet of its own. */
export async function writeCorpus(
  folder: string,
  recordings: readonly CorpusRecording[],
  changes: Partial<CutOptions> = {},
): Promise<Corpus> {
  const audioDir = path.join(folder, 'audio');
  await mkdir(audioDir, { recursive: true });
  for (const { file, write } of recordings) await write?.(path.join(audioDir, file));
  const inputManifest = path.join(folder, 'manifest.jsonl');
  const rows = recordings.map(({ id, file, segments }) => JSON.stringify({ id, audio_filepath: file, segments }));
  await writeFile(inputManifest, `${rows.join('\n')}\n`);
  const outputDir = path.join(folder, 'out');
  return {
    folder,
    options: {
      inputManifest,
      audioDir,
      outputDir,
      maxDurationSeconds: 2,
      maxSegmentGapSeconds: 0,
      jobs: 2,
      ...changes,
    },
  };
}

/** A WAV of noise at 16 kHz. */
export function wavOfNoise(seconds: number, seed: number): (filePath: string) => Promise<void> {
  return (filePath) => writeFile(filePath, buildWav(makeNoise(seconds * 16_000, 1, seed), { sampleRate: 16_000 }));
}

/** Good recordings alone, the ids of which interleave in the order of member names. */
export async function makeGoodCorpus(folder: string, seconds = 4, changes: Partial<CutOptions> = {}): Promise<Corpus> {
  const ids = ['a', 'a-1', 'a-1-', 'b', 'c'];
  return await writeCorpus(
    folder,
    ids.map((id, k) => ({
      id,
      file: `${k}.wav`,
      segments: makeSegments(Math.floor(seconds), 1, 0.7),
      write: wavOfNoise(seconds, k + 1),
    })),
    changes,
  );
}

/**
 * Recordings of several formats, good ones and ones that fail in every way that hangs on where decoding is: missing, cut
 * short, damaged in the middle and in a gap between snippets, with channels that cancel and with samples that are no numbers.
 */
export async function makeMixedCorpus(
  folder: string,
  seconds = 12,
  changes: Partial<CutOptions> = {},
): Promise<Corpus> {
  const segments = makeSegments(Math.floor(seconds / 2), 2, 1.5);
  const sampleRate = 48_000;
  const speech = makeSpeechBursts(seconds * sampleRate, sampleRate);
  const flac = (samples: Float64Array, damagedAt?: number) => (filePath: string) => {
    writeEncoded(filePath, { samples: interleaveChannels(samples, samples), sampleRate, channels: 2 }, 'flac');
    if (damagedAt !== undefined) patchFile(filePath, (bytes) => damageAt(bytes, damagedAt));
  };
  // By how much they cancel changes all the time, so that the figure of the warning hangs on every second.
  const opposite = interleaveChannels(
    speech,
    speech.map((sample, n) => -sample * (1 - (0.1 * n) / speech.length)),
  );
  const withoutNumbers = makeNoise(seconds * 16_000);
  for (let second = 0; second < seconds; second += 1) withoutNumbers[second * 16_000 + 4_000] = NaN;
  // Far enough for the way between to be skipped.
  const gapSeconds = Math.max(seconds, 12);
  const far = [...segments.slice(0, 2), { start: gapSeconds - 1, end: gapSeconds, text: 'behind the gap' }];
  return await writeCorpus(
    folder,
    [
      { id: 'a', file: 'a.flac', segments, write: flac(speech) },
      { id: 'a-1', file: 'a-1.wav', segments, write: wavOfNoise(seconds, 3) },
      { id: 'a-1-', file: 'missing.wav', segments },
      { id: 'b', file: 'damaged.flac', segments, write: flac(speech, 0.6) },
      {
        id: 'c',
        file: 'gap.flac',
        segments: far,
        write: flac(makeSpeechBursts(gapSeconds * sampleRate, sampleRate), 0.6),
      },
      {
        id: 'd',
        file: 'truncated.wav',
        segments,
        write: async (filePath) => {
          await wavOfNoise(seconds, 5)(filePath);
          patchFile(filePath, (bytes) => truncated(bytes, 0.5));
        },
      },
      {
        id: 'e',
        file: 'opposite.wav',
        segments,
        write: (filePath) => writeFile(filePath, buildWav(opposite, { sampleRate, channels: 2 })),
      },
      {
        id: 'f',
        file: 'nan.wav',
        segments,
        write: (filePath) => writeFile(filePath, buildWav(withoutNumbers, { encoding: 'f32' })),
      },
      { id: 'g', file: 'short.wav', segments, write: wavOfNoise(seconds / 2 + 0.6, 6) },
      {
        id: 'h',
        file: 'h.opus',
        segments,
        write: (filePath) => writeEncoded(filePath, { samples: speech, sampleRate, channels: 1 }, 'opus'),
      },
    ],
    changes,
  );
}

/** Overwrites 64 bytes at that share of a file. */
export function damageAt(bytes: Buffer, fraction: number): Buffer {
  const at = Math.floor(bytes.length * fraction);
  return Buffer.concat([bytes.subarray(0, at), Buffer.alloc(64, 0x55), bytes.subarray(at + 64)]);
}

/** The four files that a run leaves. */
export interface Outputs {
  tar: Buffer;
  manifest: string;
  metrics: string;
  failures: string;
}

export async function readOutputs(outputDir: string): Promise<Outputs> {
  const text = (name: string) => readFile(path.join(outputDir, name), 'utf8');
  return {
    tar: await readFile(path.join(outputDir, 'snippets.tar')),
    manifest: await text('snippets.jsonl'),
    metrics: await text('metrics.json'),
    failures: await text('failures.jsonl'),
  };
}

/** Runs a corpus undisturbed, keeps what comes out, and leaves the output folder empty. */
export async function runUndisturbed({ options }: Corpus): Promise<Outputs> {
  await cut(options);
  const outputs = await readOutputs(options.outputDir);
  await rm(options.outputDir, { recursive: true });
  return outputs;
}

/** Expects that a run left these very bytes and nothing else. */
export async function expectOutputs(outputDir: string, expected: Outputs, label = ''): Promise<void> {
  const found = await readOutputs(outputDir);
  expect(found.metrics, label).toBe(expected.metrics);
  expect(found.failures, label).toBe(expected.failures);
  expect(found.manifest, label).toBe(expected.manifest);
  expect(found.tar.equals(expected.tar), `the tar is the same ${label}`).toBe(true);
  expect(readdirSync(outputDir).toSorted(), label).toEqual([
    'failures.jsonl',
    'metrics.json',
    'snippets.jsonl',
    'snippets.tar',
  ]);
}

/** Runs in this process and stops when so many recordings are done, as a kill at that moment would. */
export async function stopAt({ options }: Corpus, recordings: number, context: CutContext = {}): Promise<void> {
  const stop = new AbortController();
  const onProgress: CutContext['onProgress'] = (progress) => {
    if (progress.stage === 'cut' && progress.recordings >= recordings) stop.abort(new Error('enough'));
  };
  await expect(cut(options, { ...context, signal: stop.signal, onProgress })).rejects.toThrow('The run was stopped');
}

/** The files in which an unfinished run keeps snippets. */
export function listParts(outputDir: string): string[] {
  const work = path.join(outputDir, '.cutroom-cut');
  if (!existsSync(work)) return [];
  return readdirSync(work, { recursive: true, encoding: 'utf8' }).flatMap((name) =>
    name.startsWith('parts') && name.includes(path.sep) ? [path.join(work, name)] : [],
  );
}

/** What the driver is told beside the options. */
export interface DriverOptions {
  checkpointMs?: number;
  /** Kills itself as soon as so many recordings are done. */
  dieAtRecordings?: number;
  /** Kills itself when all is cut and nothing published. */
  dieAtPublish?: boolean;
  /** Makes it the leader of a process group of its own. */
  detached?: boolean;
}

/** How a driver ended. */
export interface DriverEnd {
  signal: NodeJS.Signals | null;
  result?: CutResult;
  /** Native libraries that the process had loaded in the end. */
  libraries?: string[];
  error?: { name: string; code?: string; message: string; hint?: string; path?: string; stack?: string };
}

/** `cut()` in a process of its own. */
export interface Driver {
  pid: number;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the process is gone; its children may live on for a moment. */
  ended: Promise<DriverEnd>;
}

export function startDriver(options: CutOptions, driverOptions: DriverOptions = {}): Driver {
  const { detached = false, ...rest } = driverOptions;
  const program = fileURLToPath(new URL('cut-driver.js', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify({ options, ...rest })], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached,
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = once(child, 'close').then(([, signal]) => ({
    signal: signal as NodeJS.Signals | null,
    ...(said === '' ? {} : (JSON.parse(said) as Omit<DriverEnd, 'signal'>)),
  }));
  if (child.pid === undefined) throw new Error('The driver could not be started');
  return { pid: child.pid, kill: (signal) => void child.kill(signal), ended };
}

/** Runs the driver to its end and expects it to succeed. */
export async function finishDriver(options: CutOptions, driverOptions: DriverOptions = {}): Promise<CutResult> {
  const end = await startDriver(options, driverOptions).ended;
  expect(end.error).toBeUndefined();
  if (end.result === undefined) throw new Error(`The driver ended by ${end.signal}`);
  return end.result;
}

/** The live children of a process. */
export function listChildren(pid: number): number[] {
  return listProcesses().flatMap((child) => (child.parent === pid && child.state !== 'Z' ? [child.pid] : []));
}

export function isAlive(pid: number): boolean {
  return listProcesses().some((known) => known.pid === pid && known.state !== 'Z');
}

/** Waits until a condition holds, at most `withinMs`; answers whether it does. */
export async function isSoon(condition: () => boolean, withinMs: number): Promise<boolean> {
  for (const startMs = performance.now(); performance.now() - startMs < withinMs;) {
    if (condition()) return true;
    await sleep(5);
  }
  return condition();
}

interface ProcessLine {
  pid: number;
  parent: number;
  state: string;
}

/** Fields 1, 3 and 4 of `/proc/<pid>/stat` (proc(5)). */
function listProcesses(): ProcessLine[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state = '', parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
      return [{ pid: Number(name), parent: Number(parent), state }];
    } catch {
      // It ended while it was looked at.
      return [];
    }
  });
}
