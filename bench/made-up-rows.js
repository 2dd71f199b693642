// Rows of audio that is not there, for planning: NeMo manifests, and the same durations as lhotse's cuts.
import { closeSync, existsSync, openSync, renameSync, writeSync } from 'node:fs';
import { Dice } from './dice.js';

const RATE = 16_000;
const SHORTEST_SECONDS = 0.5;
const LONGEST_SECONDS = 30;
/** Of the logarithm of seconds. */
const MEAN = 2;
const DEVIATION = 0.6;
const ROWS_A_WRITE = 10_000;

/**
 * Writes a manifest where there is none yet.
 *
 * @param {string} file
 * @param {number} rows
 * @returns {string} The file.
 */
export function makeNemoRows(file, rows) {
  return writeLines(file, rows, ({ k, frames, text }) => ({
    audio_filepath: `/data/made-up/${String(k).padStart(8, '0')}.flac`,
    text,
    duration: frames / RATE,
  }));
}

/** The same rows as `makeNemoRows` writes, as `MonoCut`s of lhotse. */
export function makeLhotseCuts(file, rows) {
  return writeLines(file, rows, ({ k, frames, text }) => {
    const duration = frames / RATE;
    const source = { type: 'file', channels: [0], source: `/data/made-up/${String(k).padStart(8, '0')}.flac` };
    const recording = { id: `r${k}`, sources: [source], sampling_rate: RATE, num_samples: frames, duration };
    const supervision = { id: `s${k}`, recording_id: `r${k}`, start: 0, duration, channel: 0, text };
    return {
      ...{ id: `c${k}`, start: 0, duration, channel: 0 },
      ...{ supervisions: [supervision], recording: { ...recording, channel_ids: [0] }, type: 'MonoCut' },
    };
  });
}

/** Appears whole or not at all. */
function writeLines(file, rows, toRow) {
  if (existsSync(file)) return file;
  const dice = new Dice(21);
  const partial = `${file}.partial`;
  const handle = openSync(partial, 'w');
  let lines = [];
  for (let k = 0; k < rows; k += 1) {
    const frames = drawFrames(dice);
    lines.push(`${JSON.stringify(toRow({ k, frames, text: `utterance number ${k} of rows that are made up` }))}\n`);
    if (lines.length < ROWS_A_WRITE && k + 1 < rows) continue;
    writeSync(handle, lines.join(''));
    lines = [];
  }
  closeSync(handle);
  renameSync(partial, file);
  return file;
}

/** Lognormal, by the method of Box and Muller. */
function drawFrames(dice) {
  const radius = Math.sqrt(-2 * Math.log(1 - dice.uniform()));
  const seconds = Math.exp(MEAN + DEVIATION * radius * Math.cos(2 * Math.PI * dice.uniform()));
  return Math.floor(Math.min(Math.max(seconds, SHORTEST_SECONDS), LONGEST_SECONDS) * RATE);
}
