// The bundled sample, cut by the command line, as other programs read it: GNU tar, Python's tarfile, WebDataset,
// libsndfile and Lhotse. scripts/make-venv.sh makes the Python environment.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Row {
  snippet_id: string;
  audio_filepath: string;
  duration: number;
  text: string;
  segments: { text: string; words?: unknown[] }[];
}

/** What read-back.py prints. */
interface Report {
  tarfile: {
    name: string;
    size: number;
    mtime: number;
    mode: number;
    uid: number;
    gid: number;
    is_file: boolean;
    pax_headers: Record<string, string>;
  }[];
  webdataset: { key: string; fields: string[] }[];
  soundfile: Record<
    string,
    {
      format: string;
      subtype: string;
      rate: number;
      channels: number;
      header_frames: number;
      frames: number;
      peak: number;
    }
  >;
  lhotse_nemo: {
    id: string;
    rate: number;
    cut_samples: number;
    recording_samples: number;
    loaded_samples: number;
    channels: number;
    text: string;
  }[];
  lhotse_segments: { recordings: number; supervisions: number; words: number };
}

const RATE = 16_000;
const root = fileURLToPath(new URL('../../', import.meta.url));
const venv = path.join(root, '.venv');
const python = path.join(venv, 'bin', 'python');
/** The marker is written last: an environment half made does not count. */
const hasPython = existsSync(path.join(venv, 'requirements-hash'));
const hasGnuTar = /GNU tar/.test(outputOf('tar', ['--version']));
if (!hasPython)
  console.warn('Skipped: .venv is missing (Python or pip not installed?); sh scripts/make-venv.sh makes it');
if (!hasGnuTar) console.warn('Skipped: GNU tar is not installed');

let out = '';
beforeAll(() => {
  out = mkdtempSync(path.join(tmpdir(), 'cutroom-interop-'));
});
afterAll(() => rmSync(out, { recursive: true }));

describe.each([
  ['flac', 'FLAC', 'PCM_16'],
  ['wav', 'WAV', 'PCM_16'],
  ['ogg', 'OGG', 'VORBIS'],
])('a cut to %s', (format, container, subtype) => {
  let folder = '';
  let rows: Row[] = [];
  beforeAll(() => {
    folder = path.join(out, format);
    cutSample(folder, format);
    rows = readFileSync(path.join(folder, 'snippets.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
  });

  it.skipIf(!hasGnuTar)('GNU tar lists the members of the manifest, without owner or time', () => {
    const lines = execFileSync('tar', ['--numeric-owner', '--full-time', '-tvf', path.join(folder, 'snippets.tar')], {
      encoding: 'utf8',
      env: { ...process.env, TZ: 'UTC', LC_ALL: 'C' },
    });
    const listed = lines.trimEnd().split('\n');
    expect(listed.length).toBeGreaterThan(3);
    for (const [k, line] of listed.entries()) {
      expect(line).toMatch(/^-rw-r--r-- 0\/0 +\d+ 1970-01-01 00:00:00 /);
      expect(line.endsWith(` ${rows[k]?.audio_filepath}`)).toBe(true);
    }
    expect(listed).toHaveLength(rows.length);
  });

  describe.skipIf(!hasPython)('Python', () => {
    let report: Report;
    beforeAll(() => {
      const script = fileURLToPath(new URL('read-back.py', import.meta.url));
      report = JSON.parse(execFileSync(python, [script, folder], { encoding: 'utf8' })) as Report;
    });

    it('tarfile sees plain files in the order of the manifest', () => {
      expect(report.tarfile.map(({ name }) => name)).toEqual(rows.map((row) => row.audio_filepath));
      for (const { size, ...member } of report.tarfile) {
        expect(size).toBeGreaterThan(1000);
        expect(member).toMatchObject({ mtime: 0, mode: 0o644, uid: 0, gid: 0, is_file: true, pax_headers: {} });
      }
    });

    it('webdataset yields one sample a row, in order, with the whole id as key', () => {
      expect(report.webdataset).toEqual(rows.map((row) => ({ key: row.snippet_id, fields: [format] })));
    });

    it('soundfile reads as many frames as the duration says, and hears something', () => {
      for (const row of rows) {
        const { peak, ...audio } = report.soundfile[row.audio_filepath] ?? { peak: 0 };
        const frames = Math.round(row.duration * RATE);
        expect(frames / RATE).toBe(row.duration);
        expect(audio).toEqual({ format: container, subtype, rate: RATE, channels: 1, header_frames: frames, frames });
        expect(peak).toBeGreaterThan(0.05);
      }
    });

    it('lhotse takes each row as a NeMo cut whose length it confirms', () => {
      expect(report.lhotse_nemo).toEqual(
        rows.map((row) => {
          const frames = Math.round(row.duration * RATE);
          return {
            id: row.snippet_id,
            rate: RATE,
            cut_samples: frames,
            recording_samples: frames,
            loaded_samples: frames,
            channels: 1,
            text: row.text,
          };
        }),
      );
    });

    it('lhotse takes every segment and word as inside its recording', () => {
      const segments = rows.flatMap((row) => row.segments);
      const words = segments.reduce((sum, segment) => sum + (segment.words?.length ?? 0), 0);
      expect(report.lhotse_segments).toEqual({ recordings: rows.length, supervisions: segments.length, words });
    });
  });
});

function cutSample(folder: string, format: string): void {
  const main = path.join(root, 'dist', 'cli', 'main.js');
  const samples = path.join(root, 'samples');
  const options = {
    'input-manifest': path.join(samples, 'conversation.jsonl'),
    'audio-dir': samples,
    'output-dir': folder,
    'max-duration-sec': '30',
    'target-sample-rate': String(RATE),
    'output-format': format,
  };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  execFileSync(process.execPath, [main, 'cut', ...flags], { stdio: 'pipe' });
}

/** What a program prints, or nothing where it is not installed. */
function outputOf(command: string, args: string[]): string {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return '';
  }
}
