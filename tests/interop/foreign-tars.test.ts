// Tars that other programs wrote, as input of `build` and of `check`: Python's tarfile, GNU tar and bsdtar, each in all its formats.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkPath, countKinds, runCutroom } from '../support/command-line.js';
import { readRows } from '../support/pack-runs.js';
import { HAS_PYTHON, PYTHON, readDatasets, sha256, type ReadDataset } from '../support/python-readers.js';
import { jsonLines } from '../support/shard-files.js';
import { makeNoise } from '../support/signals.js';
import { buildWav } from '../support/wav-files.js';

const RATE = 16_000;
/** Of the first file; each has one more than that before it. */
const FRAMES = 8000;
/** 100 bytes hold it; 155 more before a slash are all that ustar has. */
const SPLIT_NAME = `${'d'.repeat(90)}/${'e'.repeat(60)}/${'f'.repeat(80)}.wav`;
/** Headers before the header hold them. */
const LONG_NAME = `${'g'.repeat(180)}.wav`;
const NAMES = ['a_1.wav', 'folder/b_2.wav', 'größe_3.wav', '語_4.wav', SPLIT_NAME];

const hasGnuTar = /GNU tar/u.test(outputOf('tar'));
const hasBsdTar = /bsdtar/u.test(outputOf('bsdtar'));
if (!HAS_PYTHON) console.warn('Skipped: .venv is missing; sh scripts/make-venv.sh makes it');
if (!hasGnuTar) console.warn('Skipped: GNU tar is not installed');
if (!hasBsdTar) console.warn('Skipped: bsdtar is not installed');

/** Who wrote a tar, and whether it can hold long names. */
const WRITERS = [
  ...['pax', 'gnu', 'ustar'].map((format) => ({ writer: 'tarfile', format, isHere: HAS_PYTHON })),
  ...['pax', 'gnu', 'oldgnu', 'ustar'].map((format) => ({ writer: 'tar', format, isHere: hasGnuTar })),
  ...['pax', 'gnutar', 'ustar'].map((format) => ({ writer: 'bsdtar', format, isHere: hasBsdTar })),
].filter(({ isHere }) => isHere);

describe.skipIf(!HAS_PYTHON)('a tar that another program wrote', () => {
  let folder = '';
  let found: Map<string, ReadDataset>;
  const digests = new Map<string, string>();

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cutroom-foreign-'));
    writeFiles('short', NAMES);
    writeFiles('long', [...NAMES, LONG_NAME]);
    for (const { writer, format } of WRITERS) {
      write(writer, format);
      // One row has no duration: it is measured.
      const rows = namesOf(format).map((name, k) => ({
        ...{ audio_filepath: name, text: `text ${k}`, k },
        ...(name !== SPLIT_NAME && { duration: (FRAMES + k) / RATE }),
      }));
      writeFileSync(path.join(folder, writer, `${format}.jsonl`), jsonLines(rows));
      const input = path.join(folder, writer, `${format}.jsonl`);
      const flags = ['--num-tars', '1', '--balance-by', 'samples', '--copy', '--format', 'WAV'];
      runCutroom(['build', '--input', input, '--output-dir', builtOf(writer, format), ...flags]);
    }
    const lists = WRITERS.map(({ writer, format }) => path.join(builtOf(writer, format), 'data.lst'));
    const read = readDatasets(lists);
    found = new Map(WRITERS.map(({ writer, format }, index) => [`${writer} ${format}`, read[index]!]));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const namesOf = (format: string): string[] => (format === 'ustar' ? NAMES : [...NAMES, LONG_NAME]);
  const builtOf = (writer: string, format: string): string => path.join(folder, `${writer}-${format}`);

  function writeFiles(inner: string, names: readonly string[]): void {
    for (const [seed, name] of names.entries()) {
      const file = path.join(folder, inner, name);
      mkdirSync(path.dirname(file), { recursive: true });
      const wav = buildWav(makeNoise(FRAMES + seed, 1, seed + 1), { sampleRate: RATE });
      writeFileSync(file, wav);
      digests.set(name, sha256(wav.subarray(44)));
    }
  }

  /** Files of a folder, which itself is a member too. */
  function write(writer: string, format: string): void {
    const out = path.join(folder, writer);
    mkdirSync(out, { recursive: true });
    const source = path.join(folder, format === 'ustar' ? 'short' : 'long');
    const tar = path.join(out, `${format}.tar`);
    if (writer === 'tarfile') {
      const script = fileURLToPath(new URL('write-tars.py', import.meta.url));
      execFileSync(PYTHON, [script, source, out, format], { stdio: 'pipe' });
      return;
    }
    const folders = ['folder'];
    const args = [`--format=${format}`, '-cf', tar, '-C', source, ...folders, ...namesOf(format).slice(0, 1)];
    execFileSync(writer, [...args, ...namesOf(format).slice(2)], {
      stdio: 'pipe',
      env: { ...process.env, LC_ALL: 'C.UTF-8' },
    });
  }

  it.each(WRITERS)(
    'is packed again with every row, and its files as they are: $writer $format',
    ({ writer, format }) => {
      const { soundfile, atdataset, webdataset } = found.get(`${writer} ${format}`)!;
      const names = namesOf(format);
      expect(Object.fromEntries(soundfile.map(({ name, sha256: digest }) => [name, digest]))).toEqual(
        Object.fromEntries(names.map((name) => [name, digests.get(name)])),
      );
      expect(webdataset).toHaveLength(names.length);
      const loaded = atdataset!.samples.map(({ id, text, rest }) => [id, { text, ...rest }]);
      expect(Object.fromEntries(loaded)).toEqual(
        Object.fromEntries(names.map((name, k) => [name.slice(0, -4), { text: `text ${k}`, k }])),
      );
      const rows = readRows(path.join(builtOf(writer, format), `manifests/${format}.000000.jsonl`));
      const durations = rows.map(({ audio_filepath: name, duration }) => [name, duration]);
      expect(Object.fromEntries(durations)).toEqual(
        Object.fromEntries(names.map((name, k) => [name, (FRAMES + k) / RATE])),
      );
    },
  );

  it.each(WRITERS)('is found whole by check: $writer $format', ({ writer, format }) => {
    const checked = checkPath(path.join(folder, writer, `${format}.tar`));
    expect(checked).toMatchObject({ kind: 'tar', members: namesOf(format).length });
    expect(countKinds(checked)).toEqual({ long_name: format === 'ustar' ? 1 : 2 });
  });
});

function outputOf(command: string): string {
  return spawnSync(command, ['--version'], { encoding: 'utf8' }).stdout ?? '';
}
