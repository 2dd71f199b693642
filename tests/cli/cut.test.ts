import { mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTarIndex } from '#cutroom/tar/reader.js';
import { runCli } from './run-cli.js';

const samples = fileURLToPath(new URL('../../samples', import.meta.url));
const manifest = path.join(samples, 'conversation.jsonl');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-cli-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const cutSample = (...more: string[]): string[] => [
  ...['cut', '--input-manifest', manifest, '--audio-dir', samples],
  ...['--output-dir', path.join(folder, 'out'), '--max-duration-sec', '30', ...more],
];

describe('cutroom cut', () => {
  it('cuts the sample and says what came out', async () => {
    const { stdout, stderr, exitCode } = await runCli(cutSample());
    expect(exitCode).toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toContain('Done.\n');
    expect(stderr).toMatch(/dropped +empty 1, overlap 2, too_long 1, repetition 1\n/u);
    const rows = readFileSync(path.join(folder, 'out/snippets.jsonl'), 'utf8').trimEnd().split('\n');
    const { members } = await readTarIndex(path.join(folder, 'out/snippets.tar'));
    const names = rows.map((row) => (JSON.parse(row) as { audio_filepath: string }).audio_filepath);
    expect(names).toEqual(members.map(({ name }) => name));
    expect(names.length).toBe(5);
    expect(existsSync(path.join(folder, 'out/.cutroom-cut'))).toBe(false);
  });

  it('prints the summary as JSON on stdout, and nothing else with --quiet', async () => {
    const { stdout, stderr } = await runCli(cutSample('--json', '--quiet', '--jobs', '1'));
    expect(stderr).toBe('');
    expect(stdout.endsWith('}\n')).toBe(true);
    expect(JSON.parse(stdout)).toMatchObject({
      result: 'cut',
      input_recordings: 1,
      output_snippets: 5,
      dropped: { empty: 1, overlap: 2, too_long: 1, repetition: 1 },
      failed_snippets: {},
      within_max_failures: true,
    });
  });

  it('cuts into shards with a list of them, and says where they are', async () => {
    const out = (name: string): string => path.join(folder, 'out', name);
    const { stdout, stderr, exitCode } = await runCli(cutSample('--snippets-per-shard', '3', '--json'));
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/shards +2, of 2 to 3 snippets and 0\.011 to 0\.023 h each\n/u);
    expect(stderr).toContain(`${out('snippets.000000.tar')} to snippets.000001.tar\n`);
    expect(stderr).toContain(`${out('snippets.000000.jsonl')} to snippets.000001.jsonl\n`);
    expect(JSON.parse(stdout)).toMatchObject({
      outputs: { manifest: null, tar: null, list: out('snippets.lst') },
      shards: [
        { tar: out('snippets.000000.tar'), manifest: out('snippets.000000.jsonl'), snippets: 3 },
        { tar: out('snippets.000001.tar'), manifest: out('snippets.000001.jsonl'), snippets: 2 },
      ],
      empty_shards: [],
    });
    expect(readFileSync(out('snippets.lst'), 'utf8').split('\n')).toHaveLength(3);
    expect(existsSync(out('snippets.tar'))).toBe(false);
  });

  it('plans shards without reading audio, and refuses what cannot be', async () => {
    const preview = await runCli(cutSample('--dry-run', '--hours-per-shard', '0.02', '--json'));
    expect(preview.stderr).toMatch(/shards +2, of 2 to 3 snippets/u);
    expect(JSON.parse(preview.stdout)).toMatchObject({
      outputs: { manifest: path.join(folder, 'out/snippets.jsonl'), tar: null, list: null },
      shards: [{ bytes: null }, { bytes: null }],
    });
    const tooMany = await runCli(cutSample('--num-shards', '6', '--overwrite'));
    expect(tooMany.exitCode).toBe(2);
    expect(tooMany.stderr).toBe(
      'error: Cannot fill 6 shards: 5 snippets are planned\nhint: Give --num-shards 5 or less.\n',
    );
    const both = await runCli(cutSample('--num-shards', '2', '--snippets-per-shard', '2'));
    expect(both.exitCode).toBe(2);
    expect(both.stderr).toContain('exclude each other');
    const none = await runCli(cutSample('--num-shards', '0'));
    expect(none.stderr).toContain('must be a whole number of 1 or more');
  });

  it('says before it begins that white space keeps shards off a list', async () => {
    const args = cutSample('--num-shards', '2', '--dry-run');
    const { stderr } = await runCli(args.map((arg) => (arg.startsWith(folder) ? path.join(folder, 'my out') : arg)));
    expect(stderr).toMatch(/^warning: no list of the shards is written: .* white space \(U\+0020\)/u);
  });

  it('keeps transcripts that loop with --no-repetition-filter', async () => {
    const { stdout } = await runCli(cutSample('--dry-run', '--no-repetition-filter', '--json'));
    const summary = JSON.parse(stdout) as { dropped: { repetition: number }; output_snippets: number };
    expect(summary.dropped.repetition).toBe(0);
    expect(summary.output_snippets).toBe(6);
  });

  it('says of a finished run that it is finished', async () => {
    await runCli(cutSample());
    const { stderr, exitCode } = await runCli(cutSample());
    expect(exitCode).toBe(0);
    expect(stderr).toContain('This run is finished already');
  });

  it('names what differs when other options meet earlier outputs', async () => {
    await runCli(cutSample());
    const { stderr, exitCode } = await runCli(cutSample('--min-duration-sec', '3'));
    expect(exitCode).toBe(2);
    expect(stderr).toContain('min_duration_sec was 0.5, now 3');
    expect(stderr).toContain('hint: ');
    expect(stderr).toContain('--overwrite');
  });

  it('takes options of the seed page with their names', async () => {
    const { exitCode } = await runCli([
      ...['cut', '--input-manifest', manifest, '--output-dir', path.join(folder, 'work')],
      ...['--output-manifest', path.join(folder, 'a.jsonl'), '--output-audio-tar-path', path.join(folder, 'a.tar')],
      ...['--metrics-path', path.join(folder, 'm.json'), '--max-duration-sec', '20', '--min-duration-sec', '1'],
      ...['--min-overlap-sec', '0.4', '--max-segment-gap-in-snippet', '2', '--ngram-n', '5', '--ngram-max-count', '2'],
      ...['--target-sample-rate', '8000', '--output-format', 'wav', '--audio-filepath-key', 'audio_filepath'],
      ...['--audio-path-resolution', 'relative', '--audio-dir', samples, '--dataset-name', 'talks', '--channel', '1'],
    ]);
    expect(exitCode).toBe(0);
    const metrics = JSON.parse(readFileSync(path.join(folder, 'm.json'), 'utf8')) as Record<string, unknown>;
    expect(metrics).toMatchObject({ dataset_name: 'talks', complete: true, options: { channel: 1, ngram_n: 5 } });
    expect(existsSync(path.join(folder, 'a.tar'))).toBe(true);
  });

  it('takes as_is paths without --audio-dir', async () => {
    const row = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, unknown>;
    const own = path.join(folder, 'own.jsonl');
    writeFileSync(own, `${JSON.stringify({ ...row, audio_filepath: path.join(samples, 'conversation.opus') })}\n`);
    const { exitCode } = await runCli([
      ...['cut', '--input-manifest', own, '--output-dir', path.join(folder, 'out')],
      ...['--max-duration-sec', '30', '--audio-path-resolution', 'as_is'],
    ]);
    expect(exitCode).toBe(0);
  });

  it('ends with 1 when a row fails, and with 0 when --max-failures allows it', async () => {
    const own = path.join(folder, 'own.jsonl');
    writeFileSync(own, `${readFileSync(manifest, 'utf8')}{"id": "broken"\n`);
    const args = cutSample().with(2, own);
    const { stderr, exitCode } = await runCli(args);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('\nerror: 1 row failed, more than --max-failures 0 allows: the exit code is 1; see "');
    expect(stderr).toMatch(/rows skipped +invalid_json 1\n/u);
    expect(stderr).toContain('failures.jsonl');
    expect(stderr).toContain(`${own}:2:16: the line ends inside an object or array\n`);
    expect(stderr).toMatch(/^ {4}hint: /mu);
    const { exitCode: again } = await runCli([...args, '--max-failures', '1']);
    expect(again).toBe(0);
    const { exitCode: share } = await runCli([...args, '--max-failures', '10%']);
    expect(share).toBe(1);
  });

  it('shows the first failure of each reason', async () => {
    const row = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, unknown>;
    const own = path.join(folder, 'own.jsonl');
    const lost = { ...row, id: 'lost', audio_filepath: 'lost.wav' };
    writeFileSync(own, `[1]\n[2]\n${JSON.stringify(lost)}\n`);
    const { stderr } = await runCli(cutSample().with(2, own));
    const shown = stderr.slice(stderr.indexOf('The first failure of each reason:\n'));
    expect(shown.match(/an array, not an object/gu)).toHaveLength(1);
    expect(shown.match(/lost\.wav": there is no such file/gu)).toHaveLength(1);
  });

  it('stops with 130 on a signal, and goes on afterwards', async () => {
    const stop = new AbortController();
    stop.abort(new Error('SIGTERM'));
    const { exitCode, stderr } = await runCli(cutSample(), { signal: stop.signal });
    expect(exitCode).toBe(130);
    expect(stderr).toContain('error: ');
    expect((await runCli(cutSample())).exitCode).toBe(0);
  });

  it('warns of a token on the command line and never prints it', async () => {
    const { stdout, stderr } = await runCli(cutSample('--hf-token', 'hf_secretsecret', '--json', '--verbose'));
    expect(stderr).toContain('warning: other users of this machine can see --hf-token');
    const files = ['metrics.json', 'snippets.jsonl', 'failures.jsonl'].map((name) =>
      readFileSync(path.join(folder, 'out', name), 'utf8'),
    );
    for (const text of [stdout, stderr, ...files]) expect(text).not.toContain('hf_secretsecret');
  });
});

describe('cutroom cut with a wrong flag', () => {
  it.each([
    ['--max-duration-sec', '0', /^error: --max-duration-sec must be a number greater than 0, but is "0"$/mu],
    ['--max-duration-sec', 'NaN', /^error: --max-duration-sec must be a number greater than 0, but is "NaN"$/mu],
    ['--max-duration-sec', 'Infinity', /--max-duration-sec must be/u],
    ['--min-duration-sec', '-1', /--min-duration-sec must be a number of 0 or more/u],
    ['--min-duration-sec', '31', /--min-duration-sec 31 is more than --max-duration-sec 30/u],
    ['--min-overlap-sec', 'x', /--min-overlap-sec must be a number/u],
    ['--max-segment-gap-in-snippet', '-0.1', /--max-segment-gap-in-snippet must be/u],
    ['--ngram-n', '0', /--ngram-n must be a whole number of 1 or more/u],
    ['--ngram-max-count', '1.5', /--ngram-max-count must be/u],
    ['--target-sample-rate', '0', /--target-sample-rate must be/u],
    ['--target-sample-rate', '700000', /flac cannot hold 700000 Hz/u],
    ['--output-format', 'flc', /Expected "flc" to be one of \(flac\|wav\|ogg\), did you mean "flac"\?/u],
    ['--audio-path-resolution', 'asis', /did you mean "as_is"\?/u],
    ['--channel', 'left', /--channel must be "average" or the number of a channel/u],
    ['--max-failures', '200%', /--max-failures must be/u],
    ['--jobs', '0', /--jobs must be/u],
    ['--max-duraton-sec', '3', /^hint: Did you mean --max-duration-sec\?$/mu],
    ['--no-repetitionfilter', '', /^hint: Did you mean --no-repetition-filter\?$/mu],
    ['--frobnicate', '3', /There is no flag --frobnicate/u],
    ['--tokenizer-path', './nowhere', /Cannot find the tokenizer/u],
  ])('%s %s: names it and ends with 2', async (flag, value, message) => {
    const argv = cutSample().filter(
      (word, at, all) => flag !== '--max-duration-sec' || (word !== flag && all[at - 1] !== flag),
    );
    const { stderr, stdout, exitCode } = await runCli([...argv, flag, ...(value === '' ? [] : [value])]);
    expect(stderr).toMatch(message);
    expect(stdout).toBe('');
    // The parser's own codes are negative; main turns them into 2.
    expect(exitCode === 2 || exitCode < 0).toBe(true);
    expect(existsSync(path.join(folder, 'out/snippets.tar'))).toBe(false);
  });

  it('lists every flag that is missing', async () => {
    const { stderr } = await runCli(['cut']);
    for (const flag of ['--input-manifest', '--output-dir', '--max-duration-sec']) expect(stderr).toContain(flag);
  });

  it('asks for --audio-dir unless paths are taken as they are', async () => {
    const argv = ['cut', '--input-manifest', manifest, '--output-dir', folder, '--max-duration-sec', '30'];
    const { stderr, exitCode } = await runCli(argv);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--audio-dir is needed');
  });
});
