// Short utterances for the bench of shards: WAV files of 16 kHz mono, a TSV for `cutroom build` and a NeMo manifest for `cutroom tar`.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Dice } from './dice.js';
import { findSpeechSource, Utterances } from './speech-source.js';

const RATE = 16_000;
const SPEECH_RATE = 48_000;
const SECONDS = [2, 3, 4, 6, 8, 11, 15, 20];
const HEADER_BYTES = 44;

/**
 * Makes the utterances where they are not there yet.
 *
 * @param {string} folder
 * @param {number} count
 * @returns {{ count: number, hours: number, tsv: string, manifest: string, audioDir: string }}
 */
export function makeUtterances(folder, count) {
  const source = findSpeechSource();
  const home = path.join(folder, `${source}-${count}`);
  const corpus = {
    tsv: path.join(home, 'train.tsv'),
    manifest: path.join(home, 'train.json'),
    audioDir: path.join(home, 'wav'),
  };
  const facts = path.join(home, 'facts.json');
  if (!existsSync(facts)) {
    mkdirSync(corpus.audioDir, { recursive: true });
    writeFileSync(facts, JSON.stringify(writeAll(corpus, count, source)));
  }
  return { ...corpus, ...JSON.parse(readFileSync(facts, 'utf8')) };
}

function writeAll({ tsv, manifest, audioDir }, count, source) {
  const utterances = new Utterances(source);
  const dice = new Dice(5);
  const lines = [];
  const rows = [];
  let samples = 0;
  for (let k = 0; k < count; k += 1) {
    const id = `u${String(k).padStart(6, '0')}`;
    const file = path.join(audioDir, `${id}.wav`);
    const { text, audio } = drawUtterance(utterances, dice, RATE * dice.pick(SECONDS));
    writeFileSync(file, wavOf(audio));
    samples += audio.length;
    const duration = audio.length / RATE;
    lines.push(`${id}\t${file}\t${text}\t0\t${duration}\n`);
    rows.push(`${JSON.stringify({ audio_filepath: file, text, duration })}\n`);
  }
  writeFileSync(tsv, lines.join(''));
  writeFileSync(manifest, rows.join(''));
  return { count, hours: samples / RATE / 3600 };
}

/** Strings drawn utterances together until there is enough, and takes every third sample: fine for a codec, whatever it sounds like. */
function drawUtterance(utterances, dice, length) {
  const audio = new Int16Array(length);
  const texts = [];
  for (let filled = 0; filled < length;) {
    const { text, samples } = utterances.draw(dice);
    const step = SPEECH_RATE / RATE;
    const taken = Math.min(length - filled, Math.floor(samples.length / step));
    for (let at = 0; at < taken; at += 1) {
      const from = at * step;
      audio[filled + at] = (samples[from] + samples[from + 1] + samples[from + 2]) / step;
    }
    filled += taken;
    texts.push(text);
  }
  return { text: texts.join(' '), audio };
}

function wavOf(audio) {
  const dataBytes = audio.length * 2;
  const wav = Buffer.alloc(HEADER_BYTES + dataBytes);
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(HEADER_BYTES - 8 + dataBytes, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(RATE, 24);
  wav.writeUInt32LE(RATE * 2, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(dataBytes, 40);
  Buffer.from(audio.buffer).copy(wav, HEADER_BYTES);
  return wav;
}

/**
 * Writes a NeMo manifest of very many rows, of which each names one of so few files that they can be there.
 *
 * @param {{ audioDir: string }} corpus Its first files are named over and over, each time with another offset.
 * @returns {string}
 */
export function makeManyRows(file, corpus, rows) {
  const names = 1000;
  const dice = new Dice(12);
  const pieces = [];
  for (let k = 0; k < rows; k += 1) {
    const name = `u${String(k % names).padStart(6, '0')}.wav`;
    const row = {
      audio_filepath: path.join(corpus.audioDir, name),
      text: `utterance number ${k} of a manifest that is longer than most`,
      duration: dice.between(10, 190) / 100,
      offset: Math.floor(k / names) / 1000,
    };
    pieces.push(`${JSON.stringify(row)}\n`);
  }
  writeFileSync(file, pieces.join(''));
  return file;
}
