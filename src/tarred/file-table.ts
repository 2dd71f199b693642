import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { systemCode } from '../errors.js';
import { TextColumn } from './text-column.js';
import { TextIndex } from './text-index.js';

/** Where the audio of a file is looked for. */
export interface AudioFolders {
  /** `--base`; absolute. */
  base: string | undefined;
  /** The current folder. */
  current: string;
}

/** Why a path leads to no audio. */
export type PathFault = 'missing' | 'not_a_file' | 'empty' | 'unreadable';

/** Bytes of a tar that are a file's. */
export interface PackedPlace {
  tarPath: string;
  offset: number;
  size: number;
  name: string;
}

/** So many names of each input are found without a look at all of them. */
const MOST_RECENT = 1 << 16;

/** How the path of a file came about. */
const AT_BASE = 0;
const AT_CURRENT = 1;
const PACKED = 2;
const FAULTS: readonly PathFault[] = ['missing', 'not_a_file', 'empty', 'unreadable'];
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
  /** The manifests' folders, absolute. */
  readonly #inputFolders: readonly string[];
  /** What rows say, each spelling of an input once, and the file that it means. */
  readonly #spellings = new TextColumn();
  readonly #fileOf: number[] = [];
  readonly #bySpelling = new TextIndex((spelling) => this.#spellings.at(spelling));
  /** Files that were named lately, by input and as rows say. */
  readonly #recent: Map<string, number>[] = [];
  /** Files, by absolute path. */
  readonly #byPath = new TextIndex((file) => this.#identityOf(file));
  /** The spelling that a file was met by first, and its input. */
  readonly #spellingOf: number[] = [];
  readonly #input: number[] = [];
  readonly #state: number[] = [];
  /** Of packed files: the tar, and the place in it. */
  readonly #tarPaths: string[] = [];
  readonly #tar = new Map<string, number>();
  readonly #places: number[] = [];
  readonly #placeOf: number[] = [];

  /** @param inputFolders of the inputs, by their number */
  constructor(inputFolders: readonly string[], folders: AudioFolders) {
    this.#inputFolders = inputFolders;
    this.#folders = folders;
  }

  get length(): number {
    return this.#state.length;
  }

  /** The number of a file that a row of an input named lately; undefined for others, which may be known all the same. */
  recentNumberOf(given: string, input: number): number | undefined {
    return this.#recent[input]?.get(given);
  }

  /** The number of the file that a row of an input names. */
  numberOf(given: string, input: number): number {
    const spelling = this.#spell(given, input);
    const isNew = spelling === this.#fileOf.length;
    const file = isNew ? this.#find(given, input, spelling) : (this.#fileOf[spelling] ?? 0);
    if (isNew) this.#fileOf.push(file);
    const recent = (this.#recent[input] ??= new Map());
    if (recent.size === MOST_RECENT) recent.clear();
    recent.set(given, file);
    return file;
  }

  /** The number of a member of a tar that a row names. */
  packedNumberOf({ tarPath, offset, size, name }: PackedPlace, input: number): number {
    let tar = this.#tar.get(tarPath);
    if (tar === undefined) {
      tar = this.#tarPaths.push(tarPath) - 1;
      this.#tar.set(tarPath, tar);
    }
    const file = this.#byPath.firstNumberOf(`${tarPath}\0${name}`, this.length);
    if (file < this.length) return file;
    this.#add(this.#spell(name, input), input, PACKED, this.#places.length);
    if (this.#fileOf.length < this.#spellings.length) this.#fileOf.push(file);
    this.#places.push(tar, offset, size);
    return file;
  }

  faultOf(file: number): PathFault | undefined {
    return FAULTS[(this.#state[file] ?? 0) - FIRST_FAULT];
  }

  /** The path as it is given, by which members are named; of a packed file the member's name. */
  givenPath(file: number): string {
    const text = this.#spellings.at(this.#spellingOf[file] ?? 0);
    return text.slice(text.indexOf('\0') + 1);
  }

  /** The input that named the file first. */
  inputOf(file: number): number {
    return this.#input[file] ?? 0;
  }

  /** Absolute; of a packed file that of its tar. */
  absolutePath(file: number): string {
    if (this.#state[file] === PACKED) return this.packedPlace(file)?.tarPath ?? '';
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

  /** The number of what an input says, which is the next one where it is said for the first time. */
  #spell(given: string, input: number): number {
    const text = `${input}\0${given}`;
    const spelling = this.#bySpelling.firstNumberOf(text, this.#spellings.length);
    if (spelling === this.#spellings.length) this.#spellings.push(text);
    return spelling;
  }

  #find(given: string, input: number, spelling: number): number {
    const wanted = this.#locate(given, input);
    const fault = faultOf(wanted);
    const isRelative = !isAnchored(given) && this.#folders.base === undefined;
    const other = isRelative ? path.join(this.#folders.current, given) : wanted;
    let state = fault === undefined ? AT_BASE : FIRST_FAULT + FAULTS.indexOf(fault);
    if (other !== wanted && faultOf(other) === undefined) {
      if (fault === undefined) this.#noteAmbiguous(given);
      else state = AT_CURRENT;
    }
    const file = this.#byPath.firstNumberOf(state === AT_CURRENT ? other : wanted, this.length);
    if (file === this.length) this.#add(spelling, input, state, -1);
    return file;
  }

  #add(spelling: number, input: number, state: number, place: number): void {
    this.#spellingOf.push(spelling);
    this.#input.push(input);
    this.#state.push(state);
    this.#placeOf.push(place);
  }

  #identityOf(file: number): string {
    const packed = this.packedPlace(file);
    return packed === undefined ? this.absolutePath(file) : `${packed.tarPath}\0${packed.name}`;
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
    if (!stats.isFile()) return 'not_a_file';
    return stats.size === 0 ? 'empty' : undefined;
  } catch (error) {
    return systemCode(error) === 'EACCES' ? 'unreadable' : 'missing';
  }
}
