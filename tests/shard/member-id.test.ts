import { assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { flattenId, idFault, idOfPath } from '#cutroom/shard/member-id.js';

describe('idFault()', () => {
  it.each(['a', 'spk/a', 'a-b_c d', 'ünï', 'a.b/c', '_a_', '__a__'])('takes %j', (id) => {
    expect(idFault(id, '.flac')).toBeUndefined();
  });

  it.each(['a.b', '.a', '/a', 'a/../b', '../a', 'a//b', './a', '._a', '__a__/b', 'a\nb', 'a/', '\ud800', 'a/.b'])(
    'refuses %j',
    (id) => {
      expect(idFault(id, '.flac')).toBeDefined();
    },
  );
});

describe('flattenId()', () => {
  it('makes any id fit', () => {
    assert(
      property(string({ unit: 'binary' }), (id) => {
        expect(idFault(flattenId(id), '.flac')).toBeUndefined();
      }),
    );
    for (const id of ['__a.x__', '../../a', '____', '.', '._', '__a__/b']) {
      expect(idFault(flattenId(id), '.flac')).toBeUndefined();
    }
  });

  it('keeps what is fit, and folders', () => {
    expect(flattenId('spk/en.0001')).toBe('spk/en_0001');
    expect(flattenId('utt-1')).toBe('utt-1');
  });
});

describe('idOfPath()', () => {
  it('joins folders and leaves the extension out', () => {
    expect(idOfPath({ path: '../de/a.b.wav', span: undefined })).toBe('de_a_b');
  });

  it('tells parts of one file apart', () => {
    expect(idOfPath({ path: 'a.wav', span: { start: 1_500_000, end: 3_000_000 } })).toBe('a-1500-3000');
    expect(idOfPath({ path: 'a.wav', span: { start: 1_500_000, end: null } })).toBe('a-1500-end');
  });
});
