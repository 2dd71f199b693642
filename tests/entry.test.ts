import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as cutroom from '#cutroom/index.js';

const DIST = path.resolve(import.meta.dirname, '../dist');

/** What is loaded with a module at once: files of this package, and names of others. */
function loadedWith(file: string, files = new Set<string>(), packages = new Set<string>()): typeof packages {
  files.add(file);
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export)\s[^;]*?from '([^']+)'/gmu);
  for (const [, name = ''] of imports) {
    const imported = path.resolve(path.dirname(file), name);
    if (!name.startsWith('.')) packages.add(name);
    else if (!files.has(imported)) loadedWith(imported, files, packages);
  }
  return packages;
}

describe('the entry', () => {
  it.each(['index.js', 'load/create-loader.js', 'load/open-loader.js'])('%s loads no package at once', (name) => {
    const packages = [...loadedWith(path.join(DIST, name))];
    expect(packages).toContain('node:path');
    expect(packages.filter((loaded) => !loaded.startsWith('node:'))).toEqual([]);
  });

  it('passes on what is given, and what comes of it', async () => {
    await expect(cutroom.createLoader({ source: 'missing.lst', jobs: -1 })).rejects.toThrow('jobs');
    await expect(cutroom.parseLoaderConfig('path: [')).rejects.toThrow(cutroom.UsageError);
    const { source } = await cutroom.parseLoaderConfig('path: data.lst', { path: '/somewhere/train.yaml' });
    expect(JSON.stringify(source)).toContain('/somewhere/data.lst');
  });
});
