import { Column, detachString } from './column.js';
import { baseName } from './audio-path.js';
import { toSafeId } from './snippet-name.js';

/** The end of a chain of recordings. */
const NONE = 0xffffffff;

/** Identity of the rows accepted so far: finds a recording by its id, by its id in names, and by the last part of its path. */
export class KnownRecordings {
  readonly #ids: string[] = [];
  readonly #paths: string[] = [];
  readonly #lines = new Column('uint32');
  /** The last recording of each safe id; `#earlier` leads to those before it. */
  readonly #lastBySafeId = new Map<string, number>();
  readonly #earlier = new Column('uint32');
  readonly #byBaseName: Map<string, number> | undefined;

  /** @param hasUniqueBaseNames whether to remember the last part of paths */
  constructor(hasUniqueBaseNames: boolean) {
    this.#byBaseName = hasUniqueBaseNames ? new Map() : undefined;
  }

  get count(): number {
    return this.#ids.length;
  }

  add(id: string, audioPath: string, line: number): void {
    const index = this.#ids.length;
    const ownId = detachString(id);
    const safeId = toSafeId(id);
    const ownSafeId = safeId === id ? ownId : detachString(safeId);
    const ownPath = detachString(this.#byBaseName === undefined ? audioPath : baseName(audioPath));
    this.#earlier.push(this.#lastBySafeId.get(ownSafeId) ?? NONE);
    this.#lastBySafeId.set(ownSafeId, index);
    this.#byBaseName?.set(ownPath, index);
    this.#ids.push(ownId);
    this.#paths.push(ownPath);
    this.#lines.push(line);
  }

  findId(id: string): number | undefined {
    return this.listSameSafeId(toSafeId(id)).find((index) => this.#ids[index] === id);
  }

  /** The recording whose path ends in the same name, where names must be unique. */
  findBaseName(audioPath: string): number | undefined {
    return this.#byBaseName?.get(baseName(audioPath));
  }

  /** All recordings of one safe id, last first. */
  listSameSafeId(safeId: string): number[] {
    const indexes: number[] = [];
    for (let index = this.#lastBySafeId.get(safeId) ?? NONE; index !== NONE; index = this.#earlier.at(index)) {
      indexes.push(index);
    }
    return indexes;
  }

  /** Every safe id, in order of first appearance. */
  safeIds(): Iterable<string> {
    return this.#lastBySafeId.keys();
  }

  idOf(index: number): string {
    return this.#ids[index]!;
  }

  /** The path as in the row; its last part alone where these are unique. */
  pathOf(index: number): string {
    return this.#paths[index]!;
  }

  /** 1-based. */
  lineOf(index: number): number {
    return this.#lines.at(index);
  }
}
