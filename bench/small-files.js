// Very many short recordings, for what looking at a file's header costs.
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { MediaWriter } from '../scripts/media-writer.js';
import { Dice } from './dice.js';

const FRAMES = 8000;
const KINDS = {
  wav: { container: 'wav', codec: 'pcm_s16le', sampleRate: 16_000, channels: 1 },
  flac: { container: 'flac', codec: 'flac', sampleRate: 48_000, channels: 2 },
};

/**
 * Makes files of 8,000 frames of noise, half of them WAV of 16 kHz mono, half FLAC of 48 kHz stereo, where they are not there yet.
 *
 * @param {string} folder
 * @param {number} count
 * @returns {string} The folder that holds them and nothing else.
 */
export function makeSmallFiles(folder, count) {
  const home = path.join(folder, String(count));
  const files = path.join(home, 'audio');
  const done = path.join(home, 'done');
  if (existsSync(done)) return files;
  const models = Object.keys(KINDS).map((kind) => [kind, writeModel(home, kind)]);
  for (let k = 0; k < count; k += 1) {
    const [kind, model] = models[k % models.length];
    const part = path.join(files, String(Math.floor(k / 1000)));
    if (k % 1000 === 0) mkdirSync(part, { recursive: true });
    copyFileSync(model, path.join(part, `${k}.${kind}`));
  }
  writeFileSync(done, '');
  return files;
}

function writeModel(home, kind) {
  const { container, ...track } = KINDS[kind];
  mkdirSync(home, { recursive: true });
  const model = path.join(home, `model.${kind}`);
  const dice = new Dice(9);
  const writer = new MediaWriter(model, { container, tracks: [track] });
  writer.write(Int16Array.from({ length: FRAMES * track.channels }, () => 3000 * dice.signed()));
  writer.close();
  return model;
}
