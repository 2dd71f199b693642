import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ABSENT, EXPECTED, GOLDEN, isAbsent, RUNS } from './golden-runs.js';
import { readRows, TarFolder, type Json } from './tar-runs.js';

// Rows and metadata alone; tests/slow/tarred compares the members and their bytes, too.
let place: TarFolder;
beforeEach(() => {
  place = new TarFolder();
});
afterEach(() => place.remove());

describe.skipIf(isAbsent)(`rows of tarDataset() against those of NeMo's converter${ABSENT}`, () => {
  it.each(Object.keys(RUNS))('%s', async (name) => {
    const [manifest, options] = RUNS[name] ?? ['', {}];
    await place.run(path.join(GOLDEN, manifest), { ...options, remainder: 'drop', subRows: true });
    const folders = readdirSync(path.join(EXPECTED, name)).filter((entry) => entry.startsWith('bucket'));
    for (const folder of folders.length === 0 ? [''] : folders) {
      const expected = path.join(EXPECTED, name, folder);
      const rows = place.rows(path.join(folder, 'tarred_audio_manifest.json'));
      const spell = (row: Json): string => JSON.stringify({ ...row, abs_audio_filepath: undefined });
      expect(rows.map(spell)).toEqual(readRows(path.join(expected, 'tarred_audio_manifest.json')).map(spell));
      const metadata = readFileSync(path.join(expected, 'metadata.yaml'), 'utf8').split('\n').slice(1);
      expect(place.read(path.join(folder, 'metadata.yaml')).split('\n').slice(1)).toEqual(metadata);
    }
  });
});
