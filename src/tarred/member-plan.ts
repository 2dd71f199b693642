import path from 'node:path';
import type { AudioFormat } from '../audio/sample-rates.js';
import { InputError } from '../errors.js';
import { FileCache } from './file-cache.js';
import type { FileTable } from './file-table.js';
import type { ManifestInput } from './inputs.js';
import { flattenPath, hashSuffix, holdsSubMark, spanSuffix, type NameParts } from './member-names.js';
import { isForced, type ResolvedTarOptions } from './options.js';
import type { RowTable } from './row-table.js';
import type { TextColumn } from './text-column.js';
import { TextIndex } from './text-index.js';

/** How the audio of a row becomes a member. */
export interface MemberPlan {
  /** Name in the tar. */
  name: string;
  how: 'copy' | 'encode' | 'fit';
  /** What it is encoded as. */
  format: AudioFormat;
  /** Whether the row's span alone goes into the member. */
  isCut: boolean;
}

/** Formats by extension, as far as their bytes may stay what they are. */
const FORMATS: Readonly<Record<string, AudioFormat>> = {
  '.flac': 'flac',
  '.wav': 'wav',
  '.mp3': 'mp3',
  '.ogg': 'ogg',
  '.opus': 'opus',
};

/** From this number on, a row is one of a dataset that gains others. */
const TAKEN = 2 ** 31;

type MemberOptions = Pick<
  ResolvedTarOptions,
  'forceCodec' | 'forceSamplingRate' | 'channel' | 'sliceWithOffset' | 'subRows'
>;

/**
 * Names the members of all planned rows, so that no two have one name, or names that differ in their extension alone.
 *
 * - A row means its file, or its span where it has an offset and the file is used by other rows, too, or audio is encoded anyway.
 * - Different files that flatten to one name all get the hash of their path.
 * - Rows that mean the very same audio share no member: the second and later ones get the hash of path and number.
 */
export class MemberPlans {
  /** Files whose name held a `-sub` that had to be changed. */
  subMarkCount = 0;
  /** Files without an extension, whose members some loaders pass over. */
  bareCount = 0;
  /** Names that more than one file flattens to. */
  collisionCount = 0;
  firstCollision: string | undefined;
  readonly #table: RowTable;
  readonly #inputs: readonly ManifestInput[];
  readonly #options: MemberOptions;
  readonly #isForced: boolean;
  readonly #taken: TextColumn | undefined;
  /** Rows by file. */
  readonly #uses: Uint32Array;
  /** Names of whole files. */
  readonly #parts: FileCache<NameParts>;
  /** Stems that several files have. */
  readonly #collisions = new Set<string>();
  /** Of rows whose audio an earlier row means already: their number, from 2 on. */
  readonly #repeats = new Map<number, number>();

  /**
   * @param planned rows of each dataset
   * @param taken stems of members that are there already
   */
  constructor(
    table: RowTable,
    inputs: readonly ManifestInput[],
    options: MemberOptions,
    planned: readonly Uint32Array[],
    taken?: TextColumn,
  ) {
    const rows = sortRows(planned);
    this.#table = table;
    this.#inputs = inputs;
    this.#taken = taken;
    this.#options = options;
    this.#isForced = isForced(options);
    this.#parts = new FileCache((file) => flattenPath(table.files.givenPath(file)));
    this.#uses = new Uint32Array(table.files.length);
    for (const row of rows) {
      const file = table.fileNumbers[row] ?? 0;
      this.#uses[file] = (this.#uses[file] ?? 0) + 1;
    }
    for (const [file, uses] of this.#uses.entries()) {
      const given = uses > 0 ? table.files.givenPath(file) : '';
      if (holdsSubMark(given)) this.subMarkCount += 1;
      if (uses > 0 && flattenPath(given).extension === '') this.bareCount += 1;
    }
    if (options.subRows) this.#requireDurations(rows);
    this.#findEqual(rows);
    if (this.#collisions.size + this.#repeats.size > 0) this.#verify(rows);
  }

  /** The member of a row; the same for all rows of a file where they share it. */
  memberOf(row: number): MemberPlan {
    const { stem, extension } = this.#partsOf(row);
    const isCut = this.#isCut(row);
    const own = FORMATS[extension] ?? FORMATS[extension.toLowerCase()];
    const { forceCodec } = this.#options;
    const format = forceCodec ?? (own === 'wav' ? 'wav' : 'flac');
    const mayStay = !isCut && (forceCodec === undefined ? !this.#isForced || own === format : own === format);
    // An extension tells neither the codec for sure, nor rate and channels: what has to be of some kind is looked at.
    const how = !mayStay ? 'encode' : this.#isForced ? 'fit' : 'copy';
    const ending = how !== 'encode' || own === format ? extension : `.${format}`;
    return { name: this.#distinct(row, stem) + ending, how, format, isCut };
  }

  /** A row that shares a member is not measured: its file may be longer than it. */
  #requireDurations(rows: Uint32Array): void {
    const { fileNumbers, durations } = this.#table;
    for (const row of rows) {
      if (!Number.isNaN(durations[row]) || (this.#uses[fileNumbers[row] ?? 0] ?? 0) === 1) continue;
      const place = { path: this.#table.manifestOf(row), line: this.#table.lineOf(row) };
      throw new InputError(`Cannot share a file with line ${place.line} of "${place.path}": its duration is null`, {
        ...place,
        hint: 'Give its seconds, or leave out --sub-rows.',
      });
    }
  }

  #isCut(row: number): boolean {
    const { sliceWithOffset, subRows } = this.#options;
    if (sliceWithOffset) return true;
    if (subRows || Number.isNaN(this.#table.offsets[row] ?? Number.NaN)) return false;
    return this.#isForced || (this.#uses[this.#table.fileNumbers[row] ?? 0] ?? 0) > 1;
  }

  /** Of equal names of different files the row that was met first is known by its stem. */
  #findEqual(rows: Uint32Array): void {
    const firstRows = this.#indexTaken((row) => this.#partsOf(row).stem);
    const keyOf = (row: number): string => `${this.#table.fileNumbers[row]} ${this.#partsOf(row).stem}`;
    const firstOfFiles = new TextIndex(keyOf);
    const counts = new Map<string, number>();
    const { fileNumbers } = this.#table;
    for (const row of rows) {
      const { stem } = this.#partsOf(row);
      const first = firstRows.firstNumberOf(stem, row);
      if (first === row) continue;
      const key = keyOf(row);
      if (fileNumbers[first] !== fileNumbers[row]) {
        this.#collisions.add(stem);
        if (firstOfFiles.firstNumberOf(key, row) === row) continue;
      }
      if (this.#options.subRows) continue;
      const count = (counts.get(key) ?? 1) + 1;
      counts.set(key, count);
      this.#repeats.set(row, count);
    }
    this.collisionCount = this.#collisions.size;
    [this.firstCollision] = this.#collisions;
  }

  /** Stem and extension of a row's member, before it is told apart from others of its name. */
  #partsOf(row: number): NameParts {
    const parts = this.#parts.get(this.#table.fileNumbers[row] ?? 0);
    if (!this.#isCut(row)) return parts;
    const offset = this.#table.offsets[row] ?? Number.NaN;
    const suffix = spanSuffix(Number.isNaN(offset) ? 0 : offset, this.#table.durations[row] ?? Number.NaN);
    return { stem: parts.stem + suffix, extension: parts.extension };
  }

  #distinct(row: number, stem: string): string {
    const repeat = this.#repeats.get(row);
    // Asking an empty set costs the hash of every stem.
    if (repeat === undefined && (this.#collisions.size === 0 || !this.#collisions.has(stem))) return stem;
    const title = namedPath(this.#table.files, this.#table.fileNumbers[row] ?? 0, this.#inputs);
    return stem + hashSuffix(repeat === undefined ? title : `${title}\0${repeat}`);
  }

  #indexTaken(stemOf: (row: number) => string): TextIndex {
    const count = this.#taken?.length ?? 0;
    const index = new TextIndex((number) =>
      number < TAKEN ? stemOf(number) : (this.#taken?.at(number - TAKEN) ?? ''),
    );
    for (let at = 0; at < count; at += 1) index.firstNumberOf(this.#taken?.at(at) ?? '', TAKEN + at);
    return index;
  }

  /** Hashes of 32 bits may be equal, too, and other files may have such names. */
  #verify(rows: Uint32Array): void {
    const finalStem = (row: number): string => this.#distinct(row, this.#partsOf(row).stem);
    const firstRows = this.#indexTaken(finalStem);
    const { fileNumbers } = this.#table;
    for (const row of rows) {
      const stem = finalStem(row);
      const first = firstRows.firstNumberOf(stem, row);
      if (first === row || (this.#options.subRows && fileNumbers[first] === fileNumbers[row])) continue;
      const place = (other: number): string =>
        other >= TAKEN ? 'the dataset' : `${this.#table.manifestOf(other)}:${this.#table.lineOf(other)}`;
      throw new InputError(
        `Cannot name the member ${JSON.stringify(stem)}: ${place(first)} and ${place(row)} both want it`,
        {
          path: this.#table.manifestOf(row),
          line: this.#table.lineOf(row),
          hint: 'Rename one of the two files.',
        },
      );
    }
  }
}

/** Rows in the order of the manifests: then what comes second does not depend on the shuffle, and what is asked of memory lies side by side. */
function sortRows(planned: readonly Uint32Array[]): Uint32Array {
  const rows = new Uint32Array(planned.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of planned) {
    rows.set(part, at);
    at += part.length;
  }
  return rows.sort();
}

/** A path that tells a file from others of its name, and is the same on every machine: from the folder that the manifest was named in. */
function namedPath(files: FileTable, file: number, inputs: readonly ManifestInput[]): string {
  const given = files.givenPath(file);
  const input = inputs[files.inputOf(file)];
  const packed = files.packedPlace(file);
  if (packed !== undefined) return path.join(path.dirname(input?.path ?? ''), path.basename(packed.tarPath), given);
  return given.startsWith('/') || given.startsWith('~') ? given : path.join(path.dirname(input?.path ?? ''), given);
}
