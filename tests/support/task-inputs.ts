import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeSine } from './signals.js';
import { buildWav } from './wav-files.js';
import { rowOf, TarFolder } from '../tarred/tar-runs.js';

/**
 * Six recordings of 0.1 to 0.6 s, one that is no audio and a row of a file that is not there.
 *
 * @returns their manifest, `t.jsonl` in the folder.
 */
export function writeBuildInput(folder: string): string {
  mkdirSync(path.join(folder, 'audio'));
  const names = Array.from({ length: 6 }, (_, n) => `audio/${n}.wav`);
  for (const [n, name] of names.entries()) {
    writeFileSync(path.join(folder, name), buildWav(makeSine(1600 * (n + 1), 16_000, 300)));
  }
  writeFileSync(path.join(folder, 'audio', 'bad.wav'), 'no audio');
  const rows = names.map((name, n) => ({
    id: `u${n}`,
    audio_filepath: path.join(folder, name),
    duration: (n + 1) / 10,
  }));
  rows.push({ id: 'bad', audio_filepath: 'audio/bad.wav', duration: 0.3 }, { ...rows[1]!, audio_filepath: 'x' });
  const lines = rows.map((row) => `${JSON.stringify({ ...row, text: `text of ${row.id}` })}\n`);
  const manifest = path.join(folder, 't.jsonl');
  writeFileSync(manifest, lines.join(''));
  return manifest;
}

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `${name}.wav`);

/** Seven recordings of 0.1 to 0.7 s and a row of a file that is not there. */
export function makeTarInput(): { place: TarFolder; manifest: string } {
  const place = new TarFolder();
  for (const [n, name] of NAMES.entries()) place.addFile(name, buildWav(makeSine(800 * (n + 1), 8000, 300)));
  const rows = [...NAMES.map((name, n) => rowOf(name, (n + 1) / 10)), rowOf('gone.wav')];
  return { place, manifest: place.addManifest('m.json', rows, []) };
}
