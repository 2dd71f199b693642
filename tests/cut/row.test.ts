import { describe, expect, it } from 'vitest';
import { buildRow, plannedDuration, type DroppedRow, type SnippetRow } from '#cutroom/cut/row.js';
import type { PlanSettings } from '#cutroom/cut/types.js';
import { dryRun, makeRow, say, withPlan } from './plan-manifest.js';

type Json = Record<string, unknown>;

/** The first row of a dry run over one line. */
function rowOf(
  line: string,
  changes: Partial<PlanSettings> = {},
): Promise<{ text: string; row: Json; segments: Json[] }> {
  return withPlan(
    line,
    async ({ plan }) => {
      const { manifest, rows } = await dryRun(plan);
      const row = rows[0] ?? {};
      return { text: manifest.split('\n')[0] ?? '', row, segments: row['segments'] as Json[] };
    },
    changes,
  );
}

function lineOf(segments: unknown, more: object = {}): string {
  return JSON.stringify(makeRow('A', segments, more));
}

describe('buildRow()', () => {
  it('changes what describes the audio, at its place, and keeps the rest', async () => {
    const { text } = await rowOf(
      '{"alignment":[1],"text":null,"zz":1.50,"id":7.0,"duration":99,"10":12345678901234567890,"actual_duration":9,"audio_filepath":"a.wav",' +
        '"audio_size":5,"swift_audio_filepath":"s","segments":[{"end":5,"speaker":"A","x":{"b":1e2},"start":2,"text":" hi "}],"audio_num_channels":2,' +
        '"resampled_audio_filepath":"r","proposed_duration":1,"audio_sample_rate":44100,"note":"\\u00e9"}',
    );
    expect(text).toBe(
      '{"text":"hi","zz":1.50,"id":"7.0","duration":3,"10":12345678901234567890,"actual_duration":3,"audio_filepath":"7_0-2_000-5_000.flac",' +
        '"swift_audio_filepath":"","segments":[{"end":3,"speaker":"A","x":{"b":1e2},"start":0,"text":" hi "}],"audio_num_channels":1,' +
        '"proposed_duration":3,"audio_sample_rate":16000,"note":"\\u00e9","snippet_id":"7_0-2_000-5_000"}',
    );
  });

  it('adds only the name and the duration where they are missing', async () => {
    const { row } = await rowOf(lineOf([say(1, 3)]));
    expect(Object.keys(row)).toEqual(['id', 'audio_filepath', 'segments', 'snippet_id', 'duration']);
  });

  it('keeps a snippet_id of the source at its place', async () => {
    const { row } = await rowOf(JSON.stringify({ snippet_id: 'old', ...makeRow('A', [say(1, 3)]) }));
    expect(Object.keys(row)[0]).toBe('snippet_id');
    expect(row['snippet_id']).toBe('A-1_000-3_000');
  });

  it.each(['swift_audio_filepath', 'resampled_audio_filepath', 'alignment'])(
    'keeps the name of the member when its key is %s',
    async (key) => {
      const { row } = await rowOf(JSON.stringify({ id: 'A', [key]: 'a.wav', segments: [say(1, 3)] }), {
        audioFilepathKey: key,
      });
      expect(row[key]).toBe('A-1_000-3_000.flac');
    },
  );

  it('makes times relative to the snippet and keeps them inside it', async () => {
    const words = [
      { word: 'a', start: 9.95, end: 11 },
      { word: 'b', start: 11.5, end: 12.5 },
      { word: 'c', start: 0, end: 1 },
      { word: 'd', start: 50, end: 1e300 },
    ];
    const { segments } = await rowOf(lineOf([say(10, 12, 'x', { words, speaker: 'A', extra: 42 })]));
    expect(segments).toEqual([
      {
        start: 0,
        end: 2,
        text: 'x',
        words: [
          { word: 'a', start: 0, end: 1 },
          { word: 'b', start: 1.5, end: 2 },
          { word: 'c', start: 0, end: 0 },
          { word: 'd', start: 2, end: 2 },
        ],
        speaker: 'A',
        extra: 42,
      },
    ]);
  });

  it('writes times without float noise', async () => {
    const { row, segments } = await rowOf(lineOf([say(12.4, 18.8), say(40.1, 42.1)]));
    expect(row['duration']).toBe(29.7);
    expect(segments.map(({ start, end }) => [start, end])).toEqual([
      [0, 6.4],
      [27.7, 29.7],
    ]);
  });

  it('keeps null and missing times of words, and turns others that are no number into null', async () => {
    const words =
      '[{"word":"a"},{"start":null,"end":11},{"start":"10","end":true},{"start":NaN,"end":-Infinity},"word",[10,11],null,NaN]';
    const { text } = await rowOf(
      `{"id":"A","audio_filepath":"a","segments":[{"start":10,"end":12,"text":"x","words":${words}}]}`,
    );
    expect(text).toContain(
      '"words":[{"word":"a"},{"start":null,"end":1},{"start":null,"end":null},{"start":null,"end":null},"word",[10,11],null,null]',
    );
  });

  it.each(['null', '[]', '{"a": 1}', '"w"', '[ ]'])('leaves words %s as they are', async (words) => {
    const { text } = await rowOf(
      `{"id":"A","audio_filepath":"a","segments":[{"start":10,"end":12,"text":"x","words":${words}}]}`,
    );
    expect(text).toContain(`"words":${words}}`);
  });

  it('takes the audio from 0 where a start is negative', async () => {
    const { row, segments } = await rowOf(lineOf([say(-1.5, 2), say(3, 4)]));
    expect(row).toMatchObject({ snippet_id: 'A--1_500-4_000', duration: 4 });
    expect(segments.map(({ start, end }) => [start, end])).toEqual([
      [0, 2],
      [3, 4],
    ]);
  });

  it('passes a lone surrogate on as an escape', async () => {
    const { text } = await rowOf(
      '{"id":"A","audio_filepath":"a","text":"","segments":[{"start":0,"end":2,"text":"x\\udc00"}]}',
    );
    expect(text).toContain('"text":"x\\udc00","segments":[{"start":0,"end":2,"text":"x\\udc00"}]');
  });
});

describe('buildRow() where the audio ends before the snippet', () => {
  /** The row of the one snippet of 10–12, 13–15 and 16–18 s when the audio ends at some time. */
  function cutAt(
    audioEndSeconds: number | undefined,
    minDurationSeconds = 0.5,
    texts = ['a', 'b', 'c'],
  ): Promise<SnippetRow | DroppedRow> {
    const segments = texts.map((text, k) => say(10 + 3 * k, 12 + 3 * k, text, { words: [1] }));
    const line = lineOf(segments, { text: 'all' });
    return withPlan(line, async ({ plan }) => {
      const recording = await plan.recording(0);
      const [snippet] = recording.snippets;
      if (snippet === undefined) throw new Error('no snippet was planned');
      const durationSeconds = Math.min(plannedDuration(snippet), (audioEndSeconds ?? Infinity) - 10);
      return buildRow(recording, snippet, {
        durationSeconds,
        audioEndSeconds,
        settings: { ...plan.settings, minDurationSeconds },
      });
    });
  }

  it('clamps the segments to the audio', async () => {
    const row = (await cutAt(17.0625)) as SnippetRow;
    const { segments, duration, text } = JSON.parse(row.line) as { segments: Json[]; duration: number; text: string };
    expect(duration).toBe(7.0625);
    expect(segments.map(({ start, end }) => [start, end])).toEqual([
      [0, 2],
      [3, 5],
      [6, 7.0625],
    ]);
    expect(text).toBe('a b c');
    expect(row).toMatchObject({ segmentCount: 3, pastEndSegmentCount: 0 });
  });

  it.each([
    [16, 2],
    [15.9, 2],
    [13, 1],
    [12.5, 1],
  ])('leaves out segments that start at or past %d s', async (audioEnd, kept) => {
    const row = (await cutAt(audioEnd)) as SnippetRow;
    const { segments, text } = JSON.parse(row.line) as { segments: Json[]; text: string };
    expect(segments).toHaveLength(kept);
    expect(text).toBe(['a', 'a b'][kept - 1]);
    expect(row).toMatchObject({ segmentCount: kept, pastEndSegmentCount: 3 - kept });
  });

  it('drops the snippet where no text is left', async () => {
    expect(await cutAt(10)).toEqual({ dropped: 'past_end', segmentCount: 3 });
    expect(await cutAt(13.5, 0.5, ['', '', 'c'])).toEqual({ dropped: 'past_end', segmentCount: 3 });
  });

  it('drops the snippet where too little audio is left', async () => {
    expect(await cutAt(11.9, 2)).toEqual({ dropped: 'too_short', segmentCount: 3 });
    expect(await cutAt(12, 2)).toMatchObject({ segmentCount: 1 });
  });
});
