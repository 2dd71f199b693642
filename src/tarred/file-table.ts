import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { systemCode } from '../errors.js';
import { IdIndex } from '../shard/id-index.js';
import { TextColumn } from './text-column.js';

/** Where the audio of a file is looked for. */
export interface AudioFolders {
  /** `--base`; absolute. */
  base: string | undefined;
  /** The current folder. */
  current: string;
}

/** Why a path leads to no audio. */
export type PathFault = 'missing' | 'not_a_file' | 'unreadable';

/** Bytes of a tar that are a file's. */
export interface PackedPlace {
  tarPath: string;
  offset: number;
  size: number;
  name: string;
}

/** How the path of a file came about. */
const AT_BASE = 0;
const AT_CURRENT = 1;
const PACKED = 2;
const FAULTS: readonly PathFault[] = ['missing', 'not_a_file', 'unreadable'];
const FIRST_FAULT = 3;

/**
 * The files that rows name, each looked for once: relative to the base, or else to the folder of the manifest, or else to the current one. Holds
 * their paths and some numbers: 150 bytes a file.
 */
export class FileTable {
  /** Files that are found in the manifest's folder while the current one has another of the same path. */
  ambiguousCount = 0;
  firstAmbiguous: string | undefined;
  readonly #folders: AudioFolders;
  readonly #ids = new IdIndex();
  readonly #given = new TextColumn();
  /** The manifests' folders, absolute. */
  readonly #inputFolders: string[];
  readonly #input: number[] = [];
  readonly #state: number[] = [];
  /** Of packed files: the tar, and the place in it. */
  readonly #tarPaths: string[] = [];
  readonly #tar = new Map<string, number>();
  readonly #places: number[] = [];
  readonly #placeOf: number[] = [];
  /** Files that turned out to be ones that are known by another path. */
  readonly #same = new Map<number, number>();

  /** @param inputFolders of the inputs, by their number */
  constructor(inputFolders: string[], folders: AudioFolders) {
    this.#inputFolders = inputFolders;
    this.#folders = folders;
  }

  get length(): number {
    return this.#given.length;
  }

  /** The number of the file that a row of an input names. */
  numberOf(given: string, input: number): number {
    const wanted = this.#locate(given, input);
    const number = this.#ids.firstShardOf(wanted, this.length);
    if (number < this.length) return this.#same.get(number) ?? number;
    const fault = faultOf(wanted);
    const isRelative = !isAnchored(given) && this.#folders.base === undefined;
    const other = isRelative ? path.join(this.#folders.current, given) : wanted;
    let state = fault === undefined ? AT_BASE : FIRST_FAULT + FAULTS.indexOf(fault);
    if (other !== wanted && faultOf(other) === undefined) {
      if (fault === undefined) this.#noteAmbiguous(given);
      else state = AT_CURRENT;
    }
    this.#add(given, input, state, -1);
    if (state === AT_CURRENT) {
      const known = this.#ids.firstShardOf(other, number);
      if (known !== number) this.#same.set(number, known);
      return known;
    }
    return number;
  }

  /** The number of a member of a tar that a row names. */
  packedNumberOf({ tarPath, offset, size, name }: PackedPlace, input: number): number {
    const number = this.#ids.firstShardOf(`${tarPath}\0${name}`, this.length);
    if (number < this.length) return number;
    let tar = this.#tar.get(tarPath);
    if (tar === undefined) {
      tar = this.#tarPaths.push(tarPath) - 1;
      this.#tar.set(tarPath, tar);
    }
    this.#add(name, input, PACKED, this.#places.length);
    this.#places.push(tar, offset, size);
    return number;
  }

  faultOf(file: number): PathFault | undefined {
    return FAULTS[(this.#state[file] ?? 0) - FIRST_FAULT];
  }

  /** The path as it is given, by which members are named; of a packed file the member's name. */
  givenPath(file: number): string {
    return this.#given.at(file);
  }

  /** The input that named the file first. */
  inputOf(file: number): number {
    return this.#input[file] ?? 0;
  }

  /** Absolute; of a packed file that of its tar. */
  absolutePath(file: number): string {
    const packed = this.packedPlace(file);
    if (packed !== undefined) return packed.tarPath;
    const given = this.givenPath(file);
    if (this.#state[file] === AT_CURRENT) return path.join(this.#folders.current, given);
    return this.#locate(given, this.inputOf(file));
  }

  packedPlace(file: number): PackedPlace | undefined {
    if (this.#state[file] !== PACKED) return undefined;
    const at = this.#placeOf[file] ?? 0;
    const [tar = 0, offset = 0, size = 0] = this.#places.slice(at, at + 3);
    return { tarPath: this.#tarPaths[tar] ?? '', offset, size, name: this.givenPath(file) };
  }

  #add(given: string, input: number, state: number, place: number): void {
    this.#given.push(given);
    this.#input.push(input);
    this.#state.push(state);
    this.#placeOf.push(place);
  }

  #locate(given: string, input: number): string {
    if (given.startsWith('/')) return path.normalize(given);
    if (isAnchored(given)) return path.join(homedir(), given.slice(1));
    return path.join(this.#folders.base ?? this.#inputFolders[input] ?? '', given);
  }

  #noteAmbiguous(given: string): void {
    this.ambiguousCount += 1;
    this.firstAmbiguous ??= given;
  }
}

/** Tells whether a path means the same file from every folder. */
function isAnchored(given: string): boolean {
  return given.startsWith('/') || given === '~' || given.startsWith('~/');
}

function faultOf(filePath: string): PathFault | undefined {
  try {
    const stats = statSync(filePath, { throwIfNoEntry: false });
    if (stats === undefined) return 'missing';
    return stats.isFile() ? undefined : 'not_a_file';
  } catch (error) {
    return systemCode(error) === 'EACCES' ? 'unreadable' : 'missing';
  }
}
