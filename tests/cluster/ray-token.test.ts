import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveRayToken } from '#cutroom/cluster/ray-token.js';
import { UsageError } from '#cutroom/errors.js';

let home: string;
beforeAll(() => {
  home = mkdtempSync(path.join(tmpdir(), 'cutroom-ray-'));
  mkdirSync(path.join(home, '.ray'));
  writeFileSync(path.join(home, '.ray', 'auth_token'), 'of-ray\n');
  writeFileSync(path.join(home, 'named'), ' of-file \n');
  writeFileSync(path.join(home, 'empty'), '\n');
});
afterAll(() => rmSync(home, { recursive: true }));

describe('resolveRayToken()', () => {
  it.each([
    ['RAY_AUTH_TOKEN first', { RAY_AUTH_TOKEN: 'of-variable', RAY_AUTH_TOKEN_PATH: '~/named' }, 'of-variable'],
    ['then the file that is named', { RAY_AUTH_TOKEN: '', RAY_AUTH_TOKEN_PATH: '~/named' }, 'of-file'],
    ["then Ray's own file", {}, 'of-ray'],
    ['nothing where tokens are off', { RAY_AUTH_TOKEN: 'x', RAY_AUTH_MODE: 'disabled' }, undefined],
  ])('takes %s', async (_, environment, expected) => {
    expect((await resolveRayToken(environment, home))?.reveal()).toBe(expected);
  });

  it('finds none where there is no file', async () => {
    expect(await resolveRayToken({}, path.join(home, 'elsewhere'))).toBeUndefined();
  });

  it.each([
    ['missing', { RAY_AUTH_TOKEN_PATH: '/nowhere/token' }, 'there is no such file'],
    ['empty', { RAY_AUTH_TOKEN_PATH: '~/empty' }, 'it is empty'],
    ['of two words', { RAY_AUTH_TOKEN: 'hidden words' }, 'it holds spaces'],
    ['a folder', { RAY_AUTH_TOKEN_PATH: '~/.ray' }, 'illegal operation on a directory'],
  ])('refuses one that is %s, without showing it', async (_, environment, why) => {
    const error = await resolveRayToken(environment, home).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).message).toContain(why);
    expect((error as UsageError).message).not.toContain('hidden');
    expect((error as UsageError).hint).toContain('RAY_AUTH_TOKEN_PATH');
  });
});
