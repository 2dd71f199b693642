import { describe, expect, it } from 'vitest';
import { isAudioName, isLoaderMeta, loaderGroup, sampleKey } from '#cutroom/shard/sample-key.js';

// The answers are those of WebDataset 1.0.2 and ATdataset 0.2.6.
describe('sampleKey() and loaderGroup()', () => {
  it.each([
    ['utt1.flac', 'utt1', 'utt1'],
    ['lec01.0001.flac', 'lec01.0001', 'lec01'],
    ['a.b/utt1.flac', 'a.b/utt1', 'a.b/utt1'],
    ['./utt1.flac', './utt1', './utt1'],
    ['dir/._utt1.flac', 'dir/._utt1', 'dir/'],
    ['._utt1.flac', '._utt1', undefined],
    ['README', 'README', undefined],
    ['a.b/README', 'a.b/README', undefined],
    ['utt1.', 'utt1', 'utt1'],
  ])('of %s are %s and %s', (name, key, group) => {
    expect(sampleKey(name)).toBe(key);
    expect(loaderGroup(name)).toBe(group);
  });
});

describe('isLoaderMeta()', () => {
  it('knows notes about the tar', () => {
    expect(['__info__', '__info__/a.json', '__a.flac', 'x__a__'].map(isLoaderMeta)).toEqual([true, true, false, false]);
  });
});

describe('isAudioName()', () => {
  it('goes by the extension, in any case', () => {
    expect(['a.flac', 'a.WAV', 'a.json', 'flac'].map(isAudioName)).toEqual([true, true, false, false]);
  });
});
