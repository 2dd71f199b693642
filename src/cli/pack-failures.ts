import { open } from 'node:fs/promises';
import type { PackFailure } from '../shard/plan.js';

/** All failures in the file that a run wrote, one after the other. */
export async function* readPackFailures(file: string): AsyncGenerator<PackFailure> {
  const handle = await open(file);
  try {
    for await (const text of handle.readLines()) yield JSON.parse(text) as PackFailure;
  } finally {
    await handle.close();
  }
}
