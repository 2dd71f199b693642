// Compiles src/ to dist/, from scratch, so that no file of an earlier build stays behind. The new build takes the old one's place
// only when it is whole.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const folder = mkdtempSync('.build-');
try {
  const made = path.join(folder, 'new');
  const compiler = path.join(
    path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin',
    'tsc',
  );
  const { status } = spawnSync(process.execPath, [compiler, '--project', 'tsconfig.json', '--outDir', made], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
  chmodSync(path.join(made, 'cli/main.js'), 0o755);
  try {
    renameSync('dist', path.join(folder, 'old'));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  renameSync(made, 'dist');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
