// Cuts the bundled sample, packs the snippets into both kinds of shards, checks them, and shows what came out.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const out = 'demo-output';
const TO_SNIPPETS = ['--output-dir', out, '--max-duration-sec', '30'];
rmSync(out, { recursive: true, force: true });
run('cut', '--input-manifest', 'samples/conversation.jsonl', '--audio-dir', 'samples', ...TO_SNIPPETS);

const { readTarIndex } = await import('../dist/tar/reader.js');
const { members } = await readTarIndex(`${out}/snippets.tar`);
const rows = readFileSync(`${out}/snippets.jsonl`, 'utf8').trimEnd().split('\n');
console.log(`\n${members.length} members in ${out}/snippets.tar, with their rows in ${out}/snippets.jsonl:`);
for (const [index, member] of members.entries()) {
  const row = JSON.parse(rows[index] ?? '{}');
  const speakers = new Set(row.segments.map((segment) => segment.speaker));
  console.log(
    `  ${member.name}  ${String(member.sizeBytes).padStart(7)} bytes  ${row.duration.toFixed(2).padStart(6)} s  ` +
      `${row.segments.length} segments of ${speakers.size} speakers`,
  );
}
const { text } = JSON.parse(rows[0] ?? '{}').segments[0];
console.log(`\nThe first begins: "${text}"`);

run('build', '--input', out, '--output-dir', `${out}/atdataset`, '--num-tars', '2', '--tar-prefix', 'train');
run(
  'tar',
  '--manifest-path',
  out,
  '--target-dir',
  `${out}/nemo`,
  '--num-shards',
  '2',
  '--max-duration',
  '60',
  '--shuffle',
);
run('check', out, `${out}/atdataset/data.lst`, `${out}/nemo`, '--deep');

function run(...args) {
  console.log(`\n$ cutroom ${args.join(' ')}`);
  const { status } = spawnSync(process.execPath, ['dist/cli/main.js', ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
