import { Column } from './column.js';
import type { RecordingNames } from './cut-plan.js';

/** Ids, paths and lines of recordings that are known by their position alone: put in any order. */
export class ListedRecordings implements RecordingNames {
  readonly #ids: string[];
  readonly #paths: string[];
  readonly #lines = new Column('uint32');

  constructor(length: number) {
    this.#ids = Array.from({ length }, () => '');
    this.#paths = Array.from({ length }, () => '');
  }

  put(index: number, id: string, audioPath: string, line: number): void {
    this.#ids[index] = id;
    this.#paths[index] = audioPath;
    this.#lines.set(index, line);
  }

  idOf(index: number): string {
    return this.#ids[index]!;
  }

  pathOf(index: number): string {
    return this.#paths[index]!;
  }

  lineOf(index: number): number {
    return this.#lines.at(index);
  }
}
