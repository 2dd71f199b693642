import { stat } from 'node:fs/promises';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, InputError, systemCode } from '../errors.js';
import type { ChunkWriter } from '../run/atomic-file.js';
import { VERSION } from '../version.js';
import { BagReader } from './bagz.js';
import type { LoudnessSettings } from './scan-types.js';

/** Names of the files of a cache. */
export const MANIFEST_NAME = 'manifest.json';
export const BAG_NAME = 'lufs.bagz';

const FORMAT = 'audiotree-lufs-windows';
/** The newest layout that is read here. */
const FORMAT_VERSION = [1, 0] as const;

/** What a cache is written of. */
export interface CachedFile {
  path: string;
  durationSeconds: number;
  sizeBytes: number;
}

/** A file of which a cache tells what is so no more. */
export interface StaleFile {
  /** As the cache or the scan has it. */
  path: string;
  /** What is known of it and what is found, as `its size was 1000 bytes, and is 1200 now`. */
  message: string;
}

/**
 * Windowed loudness of files, in the layout of audiotree 1.0: `lufs.bagz` holds an array of 32-bit floats a file, `manifest.json` says of
 * which files, and how they were measured.
 */
export class LufsCache implements Disposable {
  readonly folder: string;
  readonly settings: LoudnessSettings;
  /** Paths as they were given when the cache was made; relative ones lie under its base. */
  readonly filepaths: readonly string[];
  /** Seconds, in the order of `filepaths`; undefined where the cache does not tell. */
  readonly durations: readonly number[] | undefined;
  /** Bytes when the cache was made, in the order of `filepaths`; undefined where it does not tell. */
  readonly fileSizes: readonly (number | null)[] | undefined;
  readonly #bag: BagReader;
  #isClosed = false;
  #indices: Map<string, number> | undefined;

  /** @see openLufsCache */
  constructor(folder: string, manifest: CacheManifest, bag: BagReader) {
    this.folder = folder;
    const { lufs_window_sec: windowSeconds, sample_rate: sampleRate, mono } = manifest;
    this.settings = { windowSeconds, sampleRate, mono };
    this.filepaths = manifest.filepaths;
    this.durations = manifest.durations ?? undefined;
    this.fileSizes = manifest.file_sizes ?? undefined;
    this.#bag = bag;
  }

  get windowSeconds(): number {
    return this.settings.windowSeconds;
  }

  get sampleRate(): number | null {
    return this.settings.sampleRate;
  }

  get mono(): boolean {
    return this.settings.mono;
  }

  /** Where a file stands in `filepaths`; undefined where the cache does not know it. */
  indexOf(filepath: string): number | undefined {
    this.#indices ??= new Map(this.filepaths.map((name, index) => [name, index]));
    return this.#indices.get(filepath);
  }

  /**
   * The loudness of each whole window of a file, in LUFS; of one shorter than a window there is none.
   *
   * @param file its path as it stands in `filepaths`, or its place there.
   * @throws InputError where the cache does not know the file, or is damaged.
   */
  values(file: string | number): Float32Array {
    const index = typeof file === 'number' ? file : this.indexOf(file);
    if (index === undefined) {
      throw new InputError(`The loudness cache "${this.folder}" does not know "${file}"`, {
        path: this.folder,
        hint: 'Scan again with this file, and give paths as the cache has them.',
      });
    }
    const bytes = this.#bag.read(index);
    if (bytes.length % 4 !== 0) {
      throw new InputError(
        `Cannot read "${this.folder}": record ${index} has ${bytes.length} bytes, not whole floats`,
        {
          path: this.folder,
        },
      );
    }
    // Copied, since floats must begin at a multiple of 4; both layouts are little-endian, as all that Node.js runs on.
    return new Float32Array(Uint8Array.from(bytes).buffer);
  }

  /**
   * The files that are gone or have another size than when the cache was made.
   *
   * @param base what relative paths are joined to.
   */
  async *staleFiles(base: string): AsyncGenerator<StaleFile> {
    for (const [index, name] of this.filepaths.entries()) {
      const known = this.fileSizes?.[index] ?? undefined;
      const message = await findSizeChange(path.resolve(base, name), known);
      if (message !== undefined) yield { path: name, message };
    }
  }

  /** Closes its file. The same as leaving the scope of `using`. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#bag[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** What `manifest.json` holds. */
interface CacheManifest {
  lufs_window_sec: number;
  sample_rate: number | null;
  mono: boolean;
  filepaths: string[];
  durations: number[] | null;
  file_sizes: (number | null)[] | null;
  bagz_file: string;
}

/**
 * Opens a loudness cache, made here or by audiotree 1.0.
 *
 * @throws InputError where it is none, is damaged, or is of a newer layout.
 */
export async function openLufsCache(folder: string): Promise<LufsCache> {
  const file = path.join(folder, MANIFEST_NAME);
  const manifest = checkManifest(file, await readManifest(file));
  const bagPath = path.resolve(folder, manifest.bagz_file);
  if (path.dirname(bagPath) !== path.resolve(folder)) refuse(file, `its "bagz_file" lies outside of its folder`);
  const bag = new BagReader(bagPath);
  if (bag.count !== manifest.filepaths.length) {
    bag[Symbol.dispose]();
    refuse(bagPath, `it has ${bag.count} records, and "${MANIFEST_NAME}" names ${manifest.filepaths.length} files`);
  }
  return new LufsCache(folder, manifest, bag);
}

/** Writes `manifest.json`; the files come in the order of the records. */
export async function writeManifest(
  write: ChunkWriter,
  settings: LoudnessSettings,
  files: () => Iterable<CachedFile>,
): Promise<void> {
  const head = {
    format: FORMAT,
    format_version: FORMAT_VERSION,
    min_reader_version: [1, 0],
    producer: `cutroom ${VERSION}`,
  };
  const { windowSeconds, sampleRate, mono } = settings;
  await write(`${JSON.stringify(head).slice(0, -1)},"lufs_window_sec":${floatText(windowSeconds)},`);
  await write(`"sample_rate":${sampleRate ?? 'null'},"mono":${mono}`);
  const lists: [string, (file: CachedFile) => string][] = [
    ['filepaths', (file) => JSON.stringify(file.path)],
    ['durations', (file) => floatText(file.durationSeconds)],
    ['file_sizes', (file) => String(file.sizeBytes)],
  ];
  for (const [name, textOf] of lists) {
    await write(`,"${name}":[`);
    let separator = '';
    for (const file of files()) {
      await write(`${separator}${textOf(file)}`);
      separator = ',';
    }
    await write(']');
  }
  await write(`,"bagz_file":"${BAG_NAME}"}\n`);
}

/** As Python writes floats, which tells them from integers. */
function floatText(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

async function readManifest(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as unknown;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      const hint = `Make one with: cutroom scan PATH --lufs --out ${path.dirname(file)}`;
      throw new InputError(`There is no loudness cache in "${path.dirname(file)}"`, { path: file, hint, cause: error });
    }
    throw new InputError(`Cannot read "${file}": ${errorMessage(error)}`, {
      path: file,
      cause: error,
      hint: 'Make the cache anew.',
    });
  }
}

function checkManifest(file: string, value: unknown): CacheManifest {
  if (typeof value !== 'object' || value === null) refuse(file, 'it is no JSON object');
  const given = value as Record<string, unknown>;
  const { format, format_version: version, min_reader_version: reader = [1, 0] } = given;
  if (format !== FORMAT) refuse(file, `its format is ${JSON.stringify(format)}, not "${FORMAT}"`);
  if (!isVersion(version) || version[0] !== FORMAT_VERSION[0] || !isVersion(reader) || isNewer(reader))
    refuse(file, `its layout is ${JSON.stringify(version)}, and 1.0 is read here`);
  const { filepaths, lufs_window_sec: windowSeconds, sample_rate: rate = null, mono = true } = given;
  if (!Array.isArray(filepaths) || !filepaths.every((name) => typeof name === 'string'))
    refuse(file, '"filepaths" is no list of texts');
  if (typeof windowSeconds !== 'number' || !(windowSeconds > 0))
    refuse(file, '"lufs_window_sec" is no positive number');
  if (rate !== null && !(typeof rate === 'number' && rate > 0))
    refuse(file, '"sample_rate" is neither null nor a rate');
  if (typeof mono !== 'boolean') refuse(file, '"mono" is neither true nor false');
  if (typeof given['bagz_file'] !== 'string') refuse(file, '"bagz_file" is no text');
  return {
    lufs_window_sec: windowSeconds,
    sample_rate: rate,
    mono,
    filepaths,
    durations: numbersOf(file, given, 'durations', filepaths.length) as number[] | null,
    file_sizes: numbersOf(file, given, 'file_sizes', filepaths.length),
    bagz_file: given['bagz_file'],
  };
}

/** A list beside `filepaths`; null where there is none. */
function numbersOf(
  file: string,
  given: Record<string, unknown>,
  key: 'durations' | 'file_sizes',
  count: number,
): (number | null)[] | null {
  const list = given[key] ?? null;
  if (list === null) return null;
  const isNumber = (value: unknown): boolean => typeof value === 'number' || (key === 'file_sizes' && value === null);
  if (!Array.isArray(list) || list.length !== count || !list.every(isNumber))
    refuse(file, `"${key}" is no list of ${count} numbers`);
  return list as (number | null)[];
}

function isVersion(value: unknown): value is [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every((part) => Number.isInteger(part));
}

function isNewer([major, minor]: readonly [number, number]): boolean {
  return major > FORMAT_VERSION[0] || (major === FORMAT_VERSION[0] && minor > FORMAT_VERSION[1]);
}

function refuse(file: string, state: string): never {
  throw new InputError(`Cannot read the loudness cache "${file}": ${state}`, {
    path: file,
    hint: 'Make the cache anew.',
  });
}

/** How the size of a file differs from what it was; undefined where it does not, or is not known. */
async function findSizeChange(file: string, knownBytes: number | undefined): Promise<string | undefined> {
  try {
    const { size } = await stat(file);
    if (knownBytes === undefined || size === knownBytes) return undefined;
    return `its size was ${knownBytes} bytes, and is ${size} now`;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'it is gone';
    return `it cannot be looked at: ${errorMessage(error)}`;
  }
}
