// What the programs of trainers read of datasets, through tests/interop/read-dataset.py. scripts/make-venv.sh makes the Python environment.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const venv = path.join(root, '.venv');

/** The interpreter of the environment. */
export const PYTHON = path.join(venv, 'bin/python');

/** The marker is written last: an environment half made does not count. */
export const HAS_PYTHON = existsSync(path.join(venv, 'requirements-hash'));

/** A row as NeMo's iterator gives it. */
export interface NemoCut {
  /** Name of the member. */
  id: string;
  text: string;
  lang: string | null;
  duration: number;
  rate: number;
  samples: number;
  sha256: string;
}

/** A member as libsndfile decodes it. */
export interface DecodedMember {
  name: string;
  rate: number;
  frames: number;
  channels: number;
  /** Of the 16-bit samples. */
  peak: number;
  /** Of the samples as 16-bit integers. */
  sha256: string;
}

/** A sample as ATdataset's loader gives it, at 16 kHz. */
export interface LoadedSample {
  id: string;
  text: string;
  frames: number;
  /** Columns beside id, text and audio. */
  rest: Record<string, unknown>;
}

/** What was read of a dataset: NeMo reads folders, ATdataset lists of the formats that it knows. */
export interface ReadDataset {
  nemo?: NemoCut[];
  atdataset?: { hours: number; count: number; samples: LoadedSample[] };
  webdataset: { key: string; fields: string[] }[];
  soundfile: DecodedMember[];
}

/** Reads folders of NeMo tars and lists, all in one process. */
export function readDatasets(paths: readonly string[]): ReadDataset[] {
  const script = path.join(root, 'tests/interop/read-dataset.py');
  const printed = execFileSync(PYTHON, [script, ...paths], { encoding: 'utf8', stdio: 'pipe', maxBuffer: 1 << 28 });
  return JSON.parse(printed) as ReadDataset[];
}

/** SHA-256 in hexadecimal. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
