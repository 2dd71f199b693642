import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { build } from '#cutroom/build/build.js';
import type { BuildOptions } from '#cutroom/build/options.js';
import { check, type PathResult } from '#cutroom/check/check.js';
import { buildWav } from '../support/wav-files.js';
import { makeFolder } from './dataset-context.js';

let out: string;
let options: BuildOptions;
beforeEach((context) => {
  const folder = makeFolder(context);
  out = path.join(folder, 'out');
  const names = ['a', 'b', 'c'];
  for (const name of names)
    writeFileSync(path.join(folder, `${name}.wav`), buildWav(new Float64Array(800), { sampleRate: 8000 }));
  const input = path.join(folder, 'train.tsv');
  writeFileSync(input, names.map((name) => `${name}\t${name}.wav\tthe words of ${name}\n`).join(''));
  options = { input, outputDir: out, numTars: 3, balanceBy: 'samples', copy: true, format: 'wav', jobs: 1 };
});

async function find(found: string, more: { worldSize?: number } = {}): Promise<PathResult> {
  const { paths } = await check({ paths: [found], jobs: 1, ...more });
  return paths[0]!;
}

const told = ({ findings }: PathResult): [kind: string, message: string, hint: string | undefined][] =>
  findings.flatMap(({ kept }) => kept.map(({ kind, message, hint }) => [kind, message, hint]));

describe('check() of a dataset that build made', () => {
  it('says what is left to be made, and how', async () => {
    await build({ ...options, planOnly: true });
    const command = `cutroom build --output-dir ${out}`;
    expect(told(await find(out))).toEqual([
      [
        'unfinished_run',
        'it is planned, and none of its 3 shards is made',
        `make all: ${command}; or parts of them, with --split-start 0 --split-end 3 or less`,
      ],
    ]);
    await build({ outputDir: out, splitStart: 1, splitEnd: 2, jobs: 1 });
    expect(told(await find(out))).toEqual([
      [
        'unfinished_run',
        '2 of 3 planned shards are not made, the first of them audios/train.000000.tar',
        `make them: ${command}; or a part, with --split-start 0 --split-end 1`,
      ],
    ]);
    await build({ outputDir: out, jobs: 1 });
    expect((await find(out)).findingCount).toBe(0);
    rmSync(path.join(out, 'metrics.json'));
    expect(told(await find(out))).toEqual([
      ['unfinished_run', 'metrics.json, which is written last, is not there', `end the dataset: ${command}`],
    ]);
  });

  it('judges ranks by the rule of its loader, whether the folder is named or the list', async () => {
    await build(options);
    const ofFolder = await find(out, { worldSize: 2 });
    const ofList = await find(path.join(out, 'data.lst'), { worldSize: 2 });
    expect(told(ofFolder).map(([kind]) => kind)).toEqual(['repeated_shards']);
    expect(told(ofList)).toEqual(told(ofFolder));
    expect(ofFolder.ranks).toEqual(ofList.ranks);
    expect(ofFolder.ranks?.loader).toBe('atdataset');
  });
});
