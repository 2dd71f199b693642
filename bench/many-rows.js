// A manifest of very many rows without audio, for dry runs.
import { closeSync, openSync, writeSync } from 'node:fs';
import { Dice } from './dice.js';

const PIECE_LENGTH = 1 << 20;
const PHRASES = [
  'the ferry leaves at noon and comes back when the tide has turned',
  'nobody had asked for the key so it stayed on its nail by the door',
  'rain is expected over the hills with some snow on higher ground',
  'we counted the boxes twice and then once more before they left',
];

/**
 * Writes a long-form manifest: each row a recording of about half a minute with one to eight segments of two speakers.
 *
 * @param {string} file
 * @param {number} rows
 * @returns {number} Its size in bytes.
 */
export function writeManyRows(file, rows) {
  const dice = new Dice(11);
  const output = openSync(file, 'w');
  let sizeBytes = 0;
  let piece = '';
  try {
    for (let k = 0; k < rows; k += 1) {
      piece += JSON.stringify(makeRow(k, dice)) + '\n';
      if (piece.length < PIECE_LENGTH && k < rows - 1) continue;
      sizeBytes += writeSync(output, piece);
      piece = '';
    }
  } finally {
    closeSync(output);
  }
  return sizeBytes;
}

function makeRow(k, dice) {
  const id = `call-${String(k).padStart(9, '0')}`;
  const segments = [];
  let at = 0.5;
  for (let count = dice.between(1, 8); count > 0; count -= 1) {
    const end = at + 1 + 8 * dice.uniform();
    segments.push({ speaker: `spk${count % 2}`, start: toMillis(at), end: toMillis(end), text: dice.pick(PHRASES) });
    at = end + dice.uniform();
  }
  return { id, audio_filepath: `${id}.flac`, duration: toMillis(at + 1), segments };
}

function toMillis(seconds) {
  return Math.round(seconds * 1000) / 1000;
}
