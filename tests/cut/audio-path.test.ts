import { describe, expect, it } from 'vitest';
import { resolveAudioPath } from '#cutroom/cut/audio-path.js';
import type { AudioPathResolution } from '#cutroom/cut/types.js';

describe('resolveAudioPath()', () => {
  it.each<[AudioPathResolution, string, string | undefined, string]>([
    ['basename', './foo.wav', '/data', '/data/foo.wav'],
    ['basename', '/elsewhere/bar.m4a', '/data', '/data/bar.m4a'],
    ['basename', 'baz.flac', '/data/', '/data/baz.flac'],
    ['basename', 'dir\\baz.flac', '/data', '/data/dir\\baz.flac'],
    ['basename', 'foo/', '/data', '/data/'],
    ['basename', 'a/foo.wav', '', 'foo.wav'],
    ['relative', 'shard1/foo.wav', '/data', '/data/shard1/foo.wav'],
    ['relative', '../foo.wav', '/data', '/data/../foo.wav'],
    ['relative', '/abs/foo.wav', '/data', '/abs/foo.wav'],
    ['as_is', '/abs/foo.wav', '/data', '/abs/foo.wav'],
    ['as_is', 'rel/foo.wav', undefined, 'rel/foo.wav'],
  ])('%s: %s in %s is %s', (audioPathResolution, filePath, audioDir, expected) => {
    expect(resolveAudioPath(filePath, { audioPathResolution, audioDir })).toBe(expected);
  });

  it('refuses a mode that does not exist', () => {
    const audioPathResolution = 'not_a_mode' as AudioPathResolution;
    expect(() => resolveAudioPath('a', { audioPathResolution, audioDir: '/data' })).toThrow('not_a_mode');
  });
});
