// Packs the package as it would be published, installs it into an empty folder, and cuts the sample there.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'cutroom-package-'));
try {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
  const packed = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root, encoding: 'utf8' }),
  );
  const { filename, files, size } = Array.isArray(packed) ? packed[0] : Object.values(packed)[0];
  const names = files.map((file) => file.path);
  for (const wanted of [
    'dist/cli/main.js',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/audio/decimating-kernel.wasm',
    'dist/audio/loudness-kernel.wasm',
    'docs/cli.md',
    'README.md',
    'LICENSE',
    'samples/conversation.jsonl',
  ]) {
    if (!names.includes(wanted)) throw new Error(`The package lacks ${wanted}`);
  }
  const stray = names.filter((name) => /^(?:src|tests|bench|scripts)\//u.test(name));
  if (stray.length > 0) throw new Error(`The package holds ${stray.join(', ')}`);
  writeFileSync(path.join(folder, 'package.json'), '{ "name": "empty", "private": true }');
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', path.join(folder, filename)], {
    cwd: folder,
    stdio: 'inherit',
  });
  const installed = path.join(folder, 'node_modules', 'cutroom');
  const samples = path.join(installed, 'samples');
  const cutroom = path.join(folder, 'node_modules', '.bin', 'cutroom');
  const args = ['cut', '--input-manifest', path.join(samples, 'conversation.jsonl'), '--audio-dir', samples];
  const run = spawnSync(
    cutroom,
    [...args, '--output-dir', path.join(folder, 'out'), '--max-duration-sec', '30', '--json'],
    { encoding: 'utf8' },
  );
  if (run.status !== 0) throw new Error(`cutroom ended with ${run.status}: ${run.stderr}`);
  const rows = readFileSync(path.join(folder, 'out', 'snippets.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  const { output_snippets: snippets } = JSON.parse(run.stdout);
  if (rows.length !== snippets || snippets < 1) throw new Error(`${rows.length} rows for ${snippets} snippets`);
  console.log(
    `${filename}: ${names.length} files, ${size} bytes; installed, it cut the sample into ${snippets} snippets`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
