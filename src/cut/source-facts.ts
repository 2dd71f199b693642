import { statSync } from 'node:fs';

/** Tells whether a file is still the one that was read. */
export interface SourceFacts {
  sizeBytes: number;
  modifiedMs: number;
}

/** What a file is now, or undefined where it cannot be looked at. */
export function readSourceFacts(audioPath: string): SourceFacts | undefined {
  try {
    const facts = statSync(audioPath);
    return { sizeBytes: facts.size, modifiedMs: facts.mtimeMs };
  } catch {
    // Why is found out, and told, by who opens it.
    return undefined;
  }
}
