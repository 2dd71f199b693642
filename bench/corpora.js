// Makes the bench's corpora: speech-like long recordings, each with a long-form manifest.
//
//     node bench/corpora.js --out DIR [--hours 2.5] [--recordings 12] [--formats flac,wav,mp3,opus]
//
// writes DIR/<format>/rec000.<format> … and DIR/manifest-<format>.jsonl, the layout of ../shared/peers/make_corpus.py.
// A corpus that is there with the same settings is used again.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MediaWriter } from '../scripts/media-writer.js';
import { SPEECH_RATE } from '../scripts/speak.js';
import { Dice } from './dice.js';
import { findSpeechSource, Utterances } from './speech-source.js';

/** Counts up when a change here changes the bytes of a corpus. */
const VERSION = 1;
const PAUSES_SECONDS = [0.1, 0.3, 0.6, 1.5, 4];
/** Quiet at the start and at the end of a recording. */
const EDGE_FRAMES = SPEECH_RATE;
/** Frames mixed and encoded at a time: what bounds the memory of a recording of any length. */
const PIECE_FRAMES = SPEECH_RATE;
/** Amplitude of the room's noise in 16-bit steps: −56 dB RMS. */
const NOISE_STEPS = 85;
const NOISE_TABLE_LENGTH = 131_071;

const FORMATS = {
  flac: { container: 'flac', track: { codec: 'flac' } },
  wav: { container: 'wav', track: { codec: 'pcm_s16le', encodeRate: 16_000, encodeChannels: 1 } },
  mp3: { container: 'mp3', track: { codec: 'libmp3lame', bitRate: 128_000 } },
  opus: { container: 'opus', track: { codec: 'libopus', bitRate: 64_000 } },
  ogg: { container: 'ogg', track: { codec: 'libvorbis', quality: 4 } },
};

/** What is made unasked: FLAC 48 kHz stereo, WAV 16 kHz mono, MP3 of 128 and Opus of 64 kbit/s. There is `ogg` too: Vorbis of quality 4. */
export const CORPUS_FORMATS = ['flac', 'wav', 'mp3', 'opus'];

/**
 * Makes a corpus of each format, all of the same recordings, or finds it made.
 *
 * @param {string} outDir
 * @param {object} [options]
 * @param {number} [options.hours] Hours of each format.
 * @param {number} [options.recordings] How many recordings share these hours.
 * @param {string[]} [options.formats]
 * @param {'espeak' | 'synthetic'} [options.source] What speaks; espeak-ng where it can be run.
 * @param {(message: string) => void} [options.onProgress]
 * @returns {Promise<{ format: string, audioDir: string, manifest: string, hours: number, sizeBytes: number }[]>} One a format.
 */
export async function makeCorpora(outDir, options = {}) {
  const { hours = 2.5, recordings = 12, formats = CORPUS_FORMATS, onProgress = () => {} } = options;
  const settings = { version: VERSION, hours, recordings, source: options.source ?? findSpeechSource() };
  checkSettings(settings, formats);
  const corpora = formats.map((format) => new Corpus(outDir, format, settings));
  const missing = corpora.filter((corpus) => !corpus.isComplete());
  if (missing.length > 0) {
    for (const corpus of missing) corpus.begin();
    const utterances = new Utterances(settings.source);
    const noise = makeNoiseTable();
    const framesEach = Math.round((hours * 3600 * SPEECH_RATE) / recordings);
    for (let k = 0; k < recordings; k += 1) {
      onProgress(`Recording ${k + 1} of ${recordings} (${settings.source} speech)`);
      const turns = planTurns(utterances, framesEach, new Dice(1000 + k));
      const writers = missing.map((corpus) => corpus.openRecording(k));
      for (const piece of pieces(turns, framesEach, noise, new Dice(5000 + k))) {
        for (const writer of writers) writer.write(piece);
        // The codec library lets go of its buffers in a turn of the event loop only.
        await nextTurn();
      }
      for (const writer of writers) writer.close();
      for (const corpus of missing) corpus.addRow(k, turns, framesEach);
    }
    for (const corpus of missing) corpus.finish();
  }
  return corpora.map((corpus) => corpus.describe());
}

function checkSettings({ hours, recordings }, formats) {
  if (!(hours > 0)) throw new RangeError(`hours must be above 0, not ${hours}`);
  if (!Number.isInteger(recordings) || recordings < 1) throw new RangeError(`recordings must be 1 or more`);
  for (const format of formats) if (!(format in FORMATS)) throw new RangeError(`No such format: ${format}`);
}

/** One format's folder and manifest, and the marker that tells with what settings they were made. */
class Corpus {
  #format;
  #settings;
  #folder;
  #manifest;
  #marker;
  #rows = [];

  constructor(outDir, format, settings) {
    this.#format = format;
    this.#settings = settings;
    this.#folder = path.join(outDir, format);
    this.#manifest = path.join(outDir, `manifest-${format}.jsonl`);
    this.#marker = path.join(outDir, `corpus-${format}.json`);
  }

  isComplete() {
    if (!existsSync(this.#marker)) return false;
    return readFileSync(this.#marker, 'utf8') === this.#markerText(true);
  }

  begin() {
    if (existsSync(this.#folder) && !existsSync(this.#marker)) {
      throw new Error(`${this.#folder} is there and was not made by this program; name another folder`);
    }
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(this.#marker, this.#markerText(false));
  }

  openRecording(k) {
    const { container, track } = FORMATS[this.#format];
    return new MediaWriter(this.#pathOf(k), {
      container,
      tracks: [{ ...track, sampleRate: SPEECH_RATE, channels: 2 }],
      ...(container === 'opus' || container === 'ogg' ? { muxerOptions: { serial_offset: String(k + 1) } } : {}),
    });
  }

  addRow(k, turns, frames) {
    this.#rows.push({
      id: nameOf(k),
      audio_filepath: path.basename(this.#pathOf(k)),
      duration: frames / SPEECH_RATE,
      segments: turns.map(describeTurn),
    });
  }

  finish() {
    writeFileSync(this.#manifest, this.#rows.map((row) => JSON.stringify(row) + '\n').join(''));
    writeFileSync(this.#marker, this.#markerText(true));
  }

  describe() {
    const { hours, recordings } = this.#settings;
    let sizeBytes = 0;
    for (let k = 0; k < recordings; k += 1) sizeBytes += statSync(this.#pathOf(k)).size;
    return { format: this.#format, audioDir: this.#folder, manifest: this.#manifest, hours, sizeBytes };
  }

  #pathOf(k) {
    return path.join(this.#folder, `${nameOf(k)}.${this.#format}`);
  }

  #markerText(isComplete) {
    return JSON.stringify({ ...this.#settings, format: this.#format, complete: isComplete }) + '\n';
  }
}

function nameOf(k) {
  return `rec${String(k).padStart(3, '0')}`;
}

/** Utterances one after another, with pauses, up to the end of the recording. */
function planTurns(utterances, frames, dice) {
  const turns = [];
  for (let startFrame = EDGE_FRAMES; ;) {
    const utterance = utterances.draw(dice);
    const endFrame = startFrame + utterance.samples.length;
    if (endFrame > frames - EDGE_FRAMES) return turns;
    turns.push({ ...utterance, startFrame, endFrame, pan: 0.2 + 0.6 * dice.uniform(), speaker: dice.between(0, 1) });
    startFrame = endFrame + Math.round(dice.pick(PAUSES_SECONDS) * SPEECH_RATE);
  }
}

/** The recording as pieces of interleaved stereo; each piece is overwritten by the next. */
function* pieces(turns, frames, noise, dice) {
  const piece = new Int16Array(PIECE_FRAMES * 2);
  let next = 0;
  for (let at = 0; at < frames; at += PIECE_FRAMES) {
    const count = Math.min(PIECE_FRAMES, frames - at);
    let read = Math.floor(dice.uniform() * NOISE_TABLE_LENGTH);
    for (let k = 0; k < count * 2; k += 1) {
      piece[k] = noise[read];
      read += 1;
      if (read === NOISE_TABLE_LENGTH) read = 0;
    }
    while (next < turns.length && turns[next].endFrame <= at) next += 1;
    for (let t = next; t < turns.length && turns[t].startFrame < at + count; t += 1)
      addTurn(piece, turns[t], at, count);
    yield piece.subarray(0, count * 2);
  }
}

function addTurn(piece, { samples, startFrame, endFrame, pan }, at, count) {
  const end = Math.min(endFrame, at + count);
  for (let frame = Math.max(startFrame, at); frame < end; frame += 1) {
    const x = samples[frame - startFrame];
    piece[(frame - at) * 2] += x * pan;
    piece[(frame - at) * 2 + 1] += x * (1 - pan);
  }
}

/** Noise of a bell-like spread: the sum of three even draws. */
function makeNoiseTable() {
  const dice = new Dice(3);
  return Int16Array.from({ length: NOISE_TABLE_LENGTH }, () =>
    Math.round(NOISE_STEPS * (dice.signed() + dice.signed() + dice.signed())),
  );
}

function describeTurn({ text, startFrame, endFrame, speaker }) {
  const start = startFrame / SPEECH_RATE;
  const words = text.split(' ');
  const step = (endFrame - startFrame) / SPEECH_RATE / words.length;
  return {
    speaker: `spk${speaker}`,
    start: toMillis(start),
    end: toMillis(endFrame / SPEECH_RATE),
    text,
    text_ITN: text,
    words: words.map((word, k) => ({ word, start: toMillis(start + k * step), end: toMillis(start + (k + 1) * step) })),
  };
}

function toMillis(seconds) {
  return Math.round(seconds * 1000) / 1000;
}

async function runAsCommand() {
  const { values } = parseArgs({
    options: {
      out: { type: 'string' },
      hours: { type: 'string', default: '2.5' },
      recordings: { type: 'string', default: '12' },
      formats: { type: 'string', default: CORPUS_FORMATS.join(',') },
      source: { type: 'string' },
    },
  });
  if (values.out === undefined) throw new Error('--out DIR is missing');
  const corpora = await makeCorpora(values.out, {
    hours: Number(values.hours),
    recordings: Number(values.recordings),
    formats: values.formats.split(','),
    ...(values.source === undefined ? {} : { source: values.source }),
    onProgress: (message) => console.error(message),
  });
  console.table(corpora);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runAsCommand();
