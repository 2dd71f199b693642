import { mkdtempSync, readFileSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorMessage, InputError, wholeMessage } from '#cutroom/errors.js';

function errorOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('errorMessage()', () => {
  it('leaves out what the sentence around it says, where the system refused a file', () => {
    const folder = mkdtempSync(path.join(tmpdir(), "cutroom's, errors-"));
    const refused = [errorOf(() => readFileSync(path.join(folder, 'a.wav'))), errorOf(() => readFileSync(folder))];
    rmdirSync(folder);
    expect(refused.map(errorMessage)).toEqual(['no such file or directory', 'illegal operation on a directory']);
    expect(wholeMessage(refused[0])).toContain(folder);
  });

  it('gives any other message as it is', () => {
    const messages = ['EACCES: permission denied, open', 'E: a, b', ''];
    expect(messages.map((text) => errorMessage(new Error(text)))).toEqual(messages);
    expect(errorMessage(new InputError('line 3 is none'))).toBe('line 3 is none');
    expect(errorMessage('text')).toBe('text');
    expect(errorMessage(Object.assign(new Error('spawn sbatch ENOENT'), { code: 'ENOENT' }))).toBe(
      'spawn sbatch ENOENT',
    );
  });
});
