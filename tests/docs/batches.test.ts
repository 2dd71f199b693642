import { describe, expect, it } from 'vitest';
import { readDocument } from './markdown.js';
import { listFields, listSnakeCase } from './source-fields.js';

const load = readDocument('docs/load.md');

/** Those of the names that stand nowhere in the document as code. */
function findMissing(names: Iterable<string>): string[] {
  const code = load.match(/`[^`\n]+`/gu)?.join(' ') ?? '';
  const known = new Set(code.match(/[A-Za-z_0-9]+/gu));
  return [...new Set(names)].filter((name) => !known.has(name));
}

describe('docs/load.md has every name', () => {
  it.each<[string, string[], string]>([
    ['of what bins prints', listSnakeCase('cli/bins-summary.ts'), 'hours_share'],
    ['of what batches prints', listSnakeCase('cli/batches-summary.ts'), 'hours_of_steps'],
    ['of measured points', listFields('load/memory-model.ts', 'MemoryPoint'), 'memoryBytes'],
  ])('%s', (_, names, oneOfThem) => {
    expect(names).toContain(oneOfThem);
    expect(findMissing(names)).toEqual([]);
  });
});
