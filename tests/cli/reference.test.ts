import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cliReference } from '#cutroom/cli/reference.js';

describe('cliReference()', () => {
  it('is what docs/cli.md holds', async () => {
    const written = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
    expect(written, 'run "npm run docs"').toBe(await cliReference());
  });
});
