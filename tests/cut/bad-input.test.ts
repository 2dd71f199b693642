import { describe, expect, it } from 'vitest';
import type { FailureRecord, PlanSettings } from '#cutroom/cut/types.js';
import { dryRun, makeRow, say, withPlan, type Planned } from './plan-manifest.js';

const GOOD = makeRow('good', [say(0, 3)]);

/** Plans one line between two good rows, and gives what was reported of it. */
function reportOf(line: string | Buffer, changes: Partial<PlanSettings> = {}): Promise<FailureRecord[]> {
  const after = JSON.stringify(makeRow('after', [say(0, 3)]));
  const manifest = Buffer.concat([
    Buffer.from(`${JSON.stringify(GOOD)}\n`),
    Buffer.from(line),
    Buffer.from(`\n${after}\n`),
  ]);
  return withPlan(
    manifest,
    ({ plan, failures }) => {
      const skipped = Object.values(plan.skippedRows).reduce((sum, count) => sum + count, 0);
      expect(plan.summary(0).id).toBe('good');
      expect(plan.summary(plan.recordingCount - 1).id).toBe('after');
      expect(plan.rowCount).toBe(plan.recordingCount + skipped);
      for (const { kind, reason } of failures) if (kind === 'row') expect(plan.skippedRows).toHaveProperty(reason);
      return failures;
    },
    changes,
  );
}

describe('a line that is no row', () => {
  it.each<[string, string | Buffer, string, number | undefined, string, string]>([
    ['not JSON', 'a.wav hello', 'invalid_json', 1, 'a value is expected', 'must be a JSON object'],
    ['two objects', '{"id":1} {"id":2}', 'invalid_json', 10, 'a second object begins', 'write one object a line'],
    ['pretty-printed', '{', 'invalid_json', 2, 'the line ends inside', 'pretty-printed'],
    ['an array file', '[{"id":1},', 'invalid_json', 11, 'the line ends inside', 'JSON array'],
    ['an array', '[]', 'not_an_object', 1, 'the line is an array', 'JSON array'],
    ['a number', '3', 'not_an_object', 1, 'the line is a number', 'JSON object'],
    ['null', 'null', 'not_an_object', 1, 'the line is null', 'JSON object'],
    ['a byte order mark in the middle', '\ufeff{}', 'invalid_json', 1, 'U+FEFF', 'were files joined?'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xc3, 0xa9, 0xff, 0x22, 0x7d]), 'invalid_utf8', 4, 'not UTF-8', 'UTF-8'],
    ['no id', '{"audio_filepath":"a.wav","segments":[]}', 'missing_id', undefined, 'no id', ''],
    ['null for an id', '{"id":null,"audio_filepath":"a.wav","segments":[]}', 'missing_id', undefined, 'no id', ''],
    ['a blank id', '{"id":" \\u0085","audio_filepath":"a.wav","segments":[]}', 'missing_id', undefined, 'is empty', ''],
    [
      'a duplicate id',
      '{"id":"good","audio_filepath":"b.wav","segments":[]}',
      'duplicate_id',
      undefined,
      '"good" is already that of line 1',
      '',
    ],
    [
      'no path',
      '{"id":1,"segments":[]}',
      'missing_audio_path',
      undefined,
      '"audio_filepath" is missing',
      '--audio-filepath-key',
    ],
    ['an empty path', '{"id":1,"audio_filepath":"","segments":[]}', 'missing_audio_path', undefined, 'is empty', ''],
    ['null for a path', '{"id":1,"audio_filepath":null,"segments":[]}', 'missing_audio_path', undefined, 'is null', ''],
    [
      'a number for a path',
      '{"id":1,"audio_filepath":5,"segments":[]}',
      'missing_audio_path',
      undefined,
      'is a number',
      '',
    ],
    [
      'a list for a path',
      '{"id":1,"audio_filepath":["a"],"segments":[]}',
      'missing_audio_path',
      undefined,
      'is an array',
      '',
    ],
    ['no segments', '{"id":1,"audio_filepath":"b.wav"}', 'missing_segments', undefined, '"segments" is missing', ''],
    [
      'a string for segments',
      '{"id":1,"audio_filepath":"b.wav","segments":"x"}',
      'missing_segments',
      undefined,
      'is a string',
      '',
    ],
    [
      'a number for segments',
      '{"id":1,"audio_filepath":"b.wav","segments":0}',
      'missing_segments',
      undefined,
      'is a number',
      '',
    ],
    [
      'an object for segments',
      '{"id":1,"audio_filepath":"b.wav","segments":{"a":1}}',
      'missing_segments',
      undefined,
      'is an object',
      '',
    ],
    [
      'a duplicate file name',
      '{"id":1,"audio_filepath":"x/good.wav","segments":[]}',
      'duplicate_basename',
      undefined,
      '"good.wav" is already that of line 1, id "good"',
      'relative',
    ],
  ])('%s is skipped with its place and a hint', async (_, line, reason, column, message, hint) => {
    const failures = await reportOf(line);
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatchObject({ kind: 'row', reason, line: 2 });
    expect(failures[0]?.column).toBe(column);
    expect(failures[0]?.message).toContain(message);
    expect(failures[0]?.hint ?? '').toContain(hint);
    expect(failures[0]?.file).toMatch(/manifest\.jsonl$/);
  });

  it('is any line of pretty-printed JSON, each with a hint', async () => {
    const failures = await reportOf(JSON.stringify(makeRow('A', [say(0, 3)]), null, 2));
    const unnamed = failures.filter(({ hint }) => hint === undefined);
    expect(failures.length).toBeGreaterThan(5);
    expect(unnamed).toEqual([]);
    expect(failures[0]?.hint).toContain('pretty-printed');
  });
});

describe('a row that is skipped', () => {
  it('leaves its id and its file name to a later row', async () => {
    const rows = [{ id: 'A', segments: [] }, { id: 'A', audio_filepath: 'a.wav' }, makeRow('A', [say(0, 3)])];
    await withPlan(rows, ({ plan }) => {
      expect(plan.skippedRows).toEqual({ missing_audio_path: 1, missing_segments: 1 });
      expect(plan.summary(0)).toMatchObject({ id: 'A', line: 3, snippetCount: 1 });
    });
  });

  it('is a duplicate by the text of its id alone', async () => {
    const rows = [
      '1',
      '"1"',
      '" A"',
      '"A"',
      '1.0',
      '0',
      'false',
      '"False"',
      '[]',
      '12345678901234567890',
      '12345678901234567891',
    ];
    const text = rows.map((id, k) => `{"id":${id},"audio_filepath":"${k}.wav","segments":[]}`).join('\n');
    await withPlan(text, ({ plan }) => {
      const ids = Array.from({ length: plan.recordingCount }, (_, index) => plan.summary(index).id);
      expect(ids).toEqual(['1', ' A', 'A', '1.0', '0', 'False', '[]', '12345678901234567890', '12345678901234567891']);
      expect(plan.skippedRows).toEqual({ duplicate_id: 2 });
    });
  });

  it('may share its file name with others where paths tell them apart', async () => {
    const rows = [
      { id: 'A', audio_filepath: 'shard1/foo.wav', segments: [] },
      { id: 'B', audio_filepath: 'shard2/foo.wav', segments: [] },
      { id: 'C', audio_filepath: 'shard1/foo.wav', segments: [] },
    ];
    await withPlan(
      rows,
      ({ plan }) =>
        expect([0, 1, 2].map((k) => plan.summary(k).audioPath)).toEqual([
          '/data/shard1/foo.wav',
          '/data/shard2/foo.wav',
          '/data/shard1/foo.wav',
        ]),
      { audioPathResolution: 'relative' },
    );
    await withPlan(rows, ({ plan }) => expect(plan.skippedRows).toEqual({ duplicate_basename: 2 }));
  });

  it('is not one whose path has another key', async () => {
    const rows = [{ id: 'A', audio_path: 'a.wav', segments: [] }];
    await withPlan(rows, ({ plan }) => expect(plan.summary(0).audioPath).toBe('/data/a.wav'), {
      audioFilepathKey: 'audio_path',
    });
  });
});

describe('a segment that cannot be used', () => {
  it.each<[string, string, string, string]>([
    ['no start', '{"end":3,"text":"x"}', 'bad_times', 'the start is missing'],
    ['no end', '{"start":3,"text":"x"}', 'bad_times', 'the end is missing'],
    ['null', '{"start":null,"end":3,"text":"x"}', 'bad_times', 'the start is null'],
    ['a string', '{"start":0,"end":"3","text":"x"}', 'bad_times', 'the end is a string'],
    ['a boolean', '{"start":true,"end":3,"text":"x"}', 'bad_times', 'the start is a boolean'],
    ['NaN', '{"start":NaN,"end":3,"text":"x"}', 'bad_times', 'NaN is not finite'],
    ['-Infinity', '{"start":-Infinity,"end":3,"text":"x"}', 'bad_times', '-Infinity is not finite'],
    ['1e999', '{"start":0,"end":1e999,"text":"x"}', 'bad_times', '1e999 is not finite'],
    ['1e30', '{"start":0,"end":1e30,"text":"x"}', 'bad_times', 'beyond any recording'],
    ['the end first', '{"start":5,"end":3,"text":"x"}', 'bad_times', 'the end 3 lies before the start 5'],
    ['an end before the audio', '{"start":-5,"end":-3,"text":"x"}', 'bad_times', 'does not lie after'],
    ['an end at the start of the audio', '{"start":-5,"end":0,"text":"x"}', 'bad_times', 'does not lie after'],
    ['null for a segment', 'null', 'bad_segment', 'the segment is null'],
    ['a string for a segment', '"x"', 'bad_segment', 'the segment is a string'],
  ])('%s is dropped alone, and reported', async (_, segment, reason, message) => {
    const json = `{"id":"A","audio_filepath":"a.wav","segments":[${segment},{"start":10,"end":13,"text":"y"}]}`;
    await withPlan(json, ({ plan, failures }) => {
      expect(plan.summary(0)).toMatchObject({
        inSegments: 2,
        dropped: { bad_times: 1 },
        droppedSegments: { bad_times: 1 },
        snippetCount: 1,
      });
      expect(failures).toHaveLength(1);
      expect(failures[0]).toMatchObject({ kind: 'segment', reason, line: 1, id: 'A', segment: 0 });
      expect(failures[0]?.message).toContain(message);
    });
  });

  it.each<[string, number, number]>([
    ['5', 1, 0],
    ['["x"]', 1, 0],
    ['false', 1, 0],
    ['null', 0, 0],
    ['5,"words":["x"]', 1, 1],
  ])('text %s counts as none', async (text, reports, kept) => {
    const json = `{"id":"A","audio_filepath":"a.wav","segments":[{"start":0,"end":3,"text":${text}}]}`;
    await withPlan(json, ({ plan, failures }) => {
      expect(failures.map(({ reason }) => reason)).toEqual(Array(reports).fill('bad_text'));
      expect(plan.summary(0).dropped).toMatchObject({ empty: 1 - kept, no_text: kept });
    });
  });

  it.each([['[]'], ['{}'], ['null'], ['0'], ['false'], ['""'], ['[ ]'], ['-0.0']])(
    'words %s count as none',
    async (words) => {
      const json = `{"id":"A","audio_filepath":"a.wav","segments":[{"start":0,"end":3,"words":${words}}]}`;
      await withPlan(json, ({ plan }) => expect(plan.summary(0).dropped).toMatchObject({ empty: 1, no_text: 0 }));
    },
  );

  it.each([['[""]'], ['{"a":1}'], ['1'], ['true'], ['"x"'], ['NaN']])('words %s keep a segment', async (words) => {
    const json = `{"id":"A","audio_filepath":"a.wav","segments":[{"start":0,"end":3,"words":${words}},{"start":3,"end":4,"text":"x"}]}`;
    await withPlan(json, ({ plan }) =>
      expect(plan.summary(0)).toMatchObject({ segmentCount: 2, dropped: { empty: 0 } }),
    );
  });

  it('does not count for the time its recording spans unless it is finite', async () => {
    const json =
      '{"id":"A","audio_filepath":"a.wav","segments":[{"start":NaN,"end":900},{"start":7,"end":2},{"start":10,"end":13,"text":"y"}]}';
    await withPlan(json, ({ plan }) => expect(plan.summary(0).inDurationSeconds).toBe(6));
  });
});

it('a row with bare NaN is read, and written as strict JSON', async () => {
  const json =
    '{"id":"A","audio_filepath":"a.wav","snr":NaN,"segments":[{"start":0,"end":3,"text":"x","conf":-Infinity}]}';
  await withPlan(json, async ({ plan }: Planned) => {
    const { rows } = await dryRun(plan);
    expect(rows[0]).toMatchObject({ snr: null, segments: [{ conf: null }] });
  });
});
