import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ItemRows } from '#cutroom/load/item-rows.js';
import { openSources } from '#cutroom/load/open-sources.js';
import { jsonLines } from '../support/shard-files.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-rows-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function put(name: string, content: string | Buffer = ''): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

describe('ItemRows.read()', () => {
  test('gives rows in the order of the items, from several manifests', async () => {
    const rows = Array.from({ length: 500 }, (_, at) => ({
      audio_filepath: `${at}.wav`,
      duration: at + 1,
      text: `é${at}`,
    }));
    const a = put('a.json', `\uFEFF${jsonLines(rows.slice(0, 200))}`);
    const b = put('b.json', jsonLines(rows.slice(200)).replaceAll('\n', '\r\n\n'));
    const table = await openSources({ type: 'nemo', manifests: [a, b] });
    await using reader = new ItemRows(table, { maxOpenFiles: 1 });
    const items = [499, 0, 200, 199, 7, 7, 350];
    const found = await reader.read(items);
    expect(found.map(({ text }) => text)).toEqual(items.map((item) => `é${item}`));
    expect(found.map(({ lineNumber }) => lineNumber)).toEqual([599, 1, 1, 200, 8, 8, 301]);
    const all = await Promise.all(Array.from({ length: 500 }, async (_, item) => await reader.read([item])));
    expect(all.map(([row]) => row!.row)).toEqual(rows);
  });

  test('gives rows of a manifest in gzip', async () => {
    const rows = Array.from({ length: 300 }, (_, at) => ({ audio_filepath: `${at}.wav`, duration: at + 1, id: at }));
    const manifest = put('m.json.gz', gzipSync(jsonLines(rows)));
    const other = put('n.json', gzipSync(jsonLines(rows.toReversed())));
    const table = await openSources({ type: 'nemo', manifests: [manifest, other] });
    await using reader = new ItemRows(table, { maxOpenFiles: 1 });
    const found = await reader.read([299, 300, 7, 599]);
    expect(found.map(({ row }) => row)).toEqual([rows[299], rows[299], rows[7], rows[0]]);
    expect(found.map(({ audio }) => audio.resolvedPath)).toContain(path.join(folder, '7.wav'));
    writeFileSync(manifest, 'x');
    // The first reader may still have the one that was there.
    await using later = new ItemRows(table);
    await expect(later.read([299, 300, 7])).rejects.toThrow('shorter than it was');
  });

  test('finds files by the rule of NeMo, and names members as rows do', async () => {
    const files = [
      { audio_filepath: 'audio/a.b.wav' },
      { audio_filepath: '/abs/c.wav' },
      { audio_filepath: '~/d.wav' },
    ];
    const manifest = put('m.json', jsonLines(files.map((row) => ({ ...row, duration: 1 }))));
    put('audio/a.b.wav');
    const tarred = put('t.json', jsonLines([{ audio_filepath: 'x/e.flac', duration: 2, offset: 0.5, id: 17 }]));
    const tar = put('t.tar');
    const table = await openSources({
      type: 'group',
      sources: [
        { type: 'nemo', manifests: [manifest], tags: { lang: 'en', duration: 9 } },
        { type: 'nemo_tarred', manifests: [tarred], tars: [tar] },
      ],
    });
    await using reader = new ItemRows(table);
    const rows = await reader.read([0, 1, 2, 3]);
    expect(rows.map(({ id }) => id)).toEqual(['audio/a.b', '/abs/c', '~/d', '17']);
    expect(rows.map(({ audio }) => audio.resolvedPath)).toEqual([
      ...[path.join(folder, 'audio/a.b.wav'), '/abs/c.wav', path.join(homedir(), 'd.wav'), undefined],
    ]);
    expect(rows[3]!.audio.memberName).toBe('x/e.flac');
    expect(rows.map(({ span }) => span)).toEqual([
      ...[undefined, undefined, undefined, { startMicros: 500_000, endMicros: 2_500_000 }],
    ]);
    expect(rows[0]!.row).toEqual({ audio_filepath: 'audio/a.b.wav', duration: 1, lang: 'en' });
  });

  test('tells snippets of one recording apart', async () => {
    const rows = ['a', 'b'].map((name) => ({
      id: 'talk',
      snippet_id: `talk/${name}`,
      audio_filepath: name,
      duration: 1,
    }));
    const table = await openSources({ type: 'nemo', manifests: [put('m.json', jsonLines(rows))] });
    await using reader = new ItemRows(table);
    expect((await reader.read([1, 0])).map(({ id }) => id)).toEqual(['talk/b', 'talk/a']);
  });

  test('says that a manifest was changed', async () => {
    const line = (duration: number): string => jsonLines([{ audio_filepath: 'a.wav', duration }]);
    const manifest = put('m.json', line(1) + line(2));
    const table = await openSources({ type: 'nemo', manifests: [manifest] });
    await using reader = new ItemRows(table);
    appendFileSync(manifest, line(3));
    await expect(reader.read([1])).resolves.toHaveLength(1);
    writeFileSync(manifest, line(1) + line(4));
    await expect(reader.read([0])).resolves.toHaveLength(1);
    await expect(reader.read([1])).rejects.toThrow(/line 2 .*changed_manifest/u);
    writeFileSync(manifest, `x${line(1)}${line(2)}`);
    await expect(reader.read([0])).rejects.toThrow('changed_manifest');
    writeFileSync(manifest, line(1));
    await expect(reader.read([1])).rejects.toThrow('shorter than it was');
    await expect(reader.read([2])).rejects.toThrow(RangeError);
  });
});

describe('ItemRows', () => {
  test.runIf(process.platform === 'linux')('that nobody closes gives its files back without a warning', async () => {
    const manifest = put('m.json', jsonLines([{ audio_filepath: 'a.wav', duration: 1 }]));
    const table = await openSources({ type: 'nemo', manifests: [manifest] });
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    await expect(new ItemRows(table).read([0])).resolves.toHaveLength(1);
    expect(countOpen(manifest)).toBe(1);
    const collect = collector();
    await expect
      .poll(async () => {
        collect();
        await setImmediate();
        return countOpen(manifest);
      })
      .toBe(0);
    await setImmediate();
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  test('tells whole numbers apart that doubles do not, as ids, and gives lines where they are asked for', async () => {
    const spelled = ['9007199254740993', '9007199254740992', '-12345678901234567890123', '1e3', '0.5', 'null'];
    const lines = spelled.map((id, at) => `{"audio_filepath": "${at}.wav", "duration": 1, "id": ${id}}\n`);
    const table = await openSources({ type: 'nemo', manifests: [put('digits.json', lines.join(''))] });
    await using reader = new ItemRows(table);
    const rows = await reader.read([0, 1, 2, 3, 4, 5]);
    expect(rows.map(({ id }) => id)).toEqual([...spelled.slice(0, 3), '1000', '0.5', '5']);
    expect(rows.map(({ line }) => line)).toEqual(spelled.map(() => undefined));
    await using keeping = new ItemRows(table, { keepLines: true });
    expect((await keeping.read([2, 0])).map(({ line }) => line)).toEqual([lines[2]!.trimEnd(), lines[0]!.trimEnd()]);
  });
});

/** How often this process has a file open. */
function countOpen(file: string): number {
  const links = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      return '';
    }
  });
  return links.filter((link) => link === file).length;
}

function collector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
