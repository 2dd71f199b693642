import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeInputs, listChangedInputs, listMovedInputs } from '#cutroom/cluster/plan-inputs.js';
import { NEVER } from '../support/plan-runs.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cutroom-inputs-'));
  mkdirSync(path.join(folder, 'tokenizer'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function put(name: string, text = name): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe('describeInputs()', () => {
  it('knows the tokenizer of a cut, by its folder or its file, and by no name of the Hub', async () => {
    const [manifest, tokenizer] = [put('talks.jsonl'), put('tokenizer/tokenizer.json')];
    for (const tokenizerPath of [tokenizer, path.dirname(tokenizer)]) {
      const inputs = await describeInputs('cut', { inputManifest: manifest, tokenizerPath }, NEVER);
      expect(inputs.map((input) => input.path)).toEqual([manifest, tokenizer]);
    }
    const inputs = await describeInputs('cut', { inputManifest: manifest, tokenizerPath: 'team/model' }, NEVER);
    expect(inputs.map((input) => input.path)).toEqual([manifest]);
  });

  it('knows each of several files that are given as one', async () => {
    const [a, b] = [put('a.json'), put('b.json')];
    const inputs = await describeInputs('tar', { manifestPaths: [`${a},${b}`] }, NEVER);
    expect(inputs.map((input) => input.path)).toEqual([a, b]);
    expect(await listChangedInputs(inputs, NEVER)).toEqual([]);
    put('b.json', 'other text');
    expect(await listChangedInputs(inputs, NEVER)).toEqual([`"${b}" had 6 bytes, now 10`]);
    rmSync(a);
    expect(await listChangedInputs(inputs, NEVER)).toEqual([`"${a}" is gone`, `"${b}" had 6 bytes, now 10`]);
  });
});

describe('listMovedInputs()', () => {
  it('names a file that a relative path meant in another folder', async () => {
    const manifest = put('talks.jsonl');
    const relative = path.relative('', manifest);
    const inputs = await describeInputs('cut', { inputManifest: relative }, NEVER);
    expect(listMovedInputs('cut', { inputManifest: relative }, inputs)).toEqual([]);
    expect(listMovedInputs('cut', { inputManifest: manifest }, inputs)).toEqual([]);
    expect(listMovedInputs('cut', { inputManifest: `x/${relative}` }, inputs)).toEqual([
      `it was "${manifest}", and a relative path now names another file`,
    ]);
  });
});
