import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Bytes in a file of their own, for what reads files alone; it is gone when this is disposed of. */
export class SpooledFile implements Disposable {
  readonly path: string;

  /** @param name what is read from it may hang on its extension. */
  constructor(bytes: Uint8Array, name: string) {
    const extension = /\.[A-Za-z0-9]{1,8}$/u.exec(name)?.[0] ?? '';
    this.path = path.join(tmpdir(), `cutroom-${randomUUID()}${extension}`);
    try {
      writeFileSync(this.path, bytes, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { force: true });
  }
}
