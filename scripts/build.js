// Compiles src/ to dist/, TypeScript and WebAssembly, from scratch, so that no file of an earlier build stays behind. The new build takes the old one's place
// only when it is whole.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import initWabt from 'wabt';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
// Beside dist/, so that source maps find src/ from both places.
const made = mkdtempSync('.build-');
const old = `${made}-old`;
const wabt = await initWabt();
try {
  process.exitCode = build();
} finally {
  for (const folder of [made, old]) rmSync(folder, { recursive: true, force: true });
}

function build() {
  const compiler = path.join(
    path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin',
    'tsc',
  );
  const args = [compiler, '--project', 'tsconfig.json', '--outDir', made];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) return status ?? 1;
  for (const name of readdirSync('src', { recursive: true })) if (name.endsWith('.wat')) assemble(name);
  chmodSync(made, 0o755);
  chmodSync(path.join(made, 'cli/main.js'), 0o755);
  try {
    renameSync('dist', old);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  renameSync(made, 'dist');
  return 0;
}

/** Makes WebAssembly of its text. */
function assemble(name) {
  const text = readFileSync(path.join('src', name), 'utf8');
  const module = wabt.parseWat(name, text, { simd: true });
  module.validate();
  writeFileSync(path.join(made, name.replace(/\.wat$/u, '.wasm')), module.toBinary({}).buffer);
  module.destroy();
}
