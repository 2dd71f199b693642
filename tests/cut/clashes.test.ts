import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { suffixClash, type Clash } from '#cutroom/cut/clashes.js';
import type { PlanSettings } from '#cutroom/cut/types.js';
import { InputError } from '#cutroom/errors.js';
import { listMembers, makeRow, say, withPlan } from './plan-manifest.js';

const SUFFIX: Partial<PlanSettings> = {
  onClash: 'suffix',
  minDurationSeconds: 0,
  maxSegmentGapSeconds: 0,
  minOverlapSeconds: 5,
  maxDurationSeconds: 1,
};

function hex(id: string, ordinal: number): string {
  return createHash('sha256').update(`${id}\0${ordinal}`).digest('hex').slice(0, 8);
}

/** Names with suffixes, by recording in the order of the manifest. */
function listNames(rows: readonly unknown[]): Promise<string[][]> {
  return withPlan(
    rows,
    async ({ plan }) => {
      const names: string[][] = [];
      for (let k = 0; k < plan.recordingCount; k += 1) {
        names.push((await plan.recording(k)).snippets.map(({ snippetId }) => snippetId));
      }
      const inOrder = (await listMembers(plan)).map(({ snippet }) => snippet.snippetId);
      expect(inOrder.toSorted()).toEqual(names.flat().toSorted());
      return names;
    },
    SUFFIX,
  );
}

async function refusalOf(rows: readonly unknown[]): Promise<InputError> {
  const error: unknown = await withPlan(rows, () => undefined, { ...SUFFIX, onClash: 'refuse' }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof InputError)) throw new Error('no clash was found', { cause: error });
  return error;
}

const SAME_IDS = [makeRow('session.1', [say(1, 2), say(5, 6)]), makeRow('session_1', [say(1, 2), say(7, 8)])];
const SAME_SPANS = [makeRow('A', [say(1.0001, 2.0001), say(1.0004, 2.0004), say(5, 6)])];
const MINUS = [
  makeRow('X', [say(-0.5, 0.4), say(5, 6)]),
  makeRow('X-', [say(0.5, 0.6), say(0, 0.4)]),
  makeRow('Y', [say(-0.5, 0.4)]),
];
const MINUS_CLASH = [
  makeRow('X', [say(-0.3, 0.5), say(5, 6)]),
  makeRow('X-', [say(0.3, 0.5)]),
  makeRow('X--', [say(1, 2)]),
];

describe('planCut() with onClash refuse', () => {
  it('names both rows whose ids are equal in names', async () => {
    const error = await refusalOf(SAME_IDS);
    expect(error.message).toMatch(
      /^Two snippets would be named "session_1-1_000-2_000": .*manifest\.jsonl:1 \(id "session\.1", 1 to 2 s\) and .*manifest\.jsonl:2 \(id "session_1", 1 to 2 s\)$/,
    );
    expect(error.hint).toContain('--on-clash suffix');
    expect(error.line).toBe(1);
  });

  it('names both spans of one row that are equal to the millisecond', async () => {
    const error = await refusalOf(SAME_SPANS);
    expect(error.message).toContain('(id "A", 1.0001 to 2.0001 s)');
    expect(error.message).toContain('(id "A", 1.0004 to 2.0004 s)');
  });

  it('finds a minus sign that reads as a separator', async () => {
    const rows = [makeRow('X', [say(-1.5, 2)]), makeRow('X-', [say(1.5, 2)])];
    const changes: Partial<PlanSettings> = { minDurationSeconds: 0 };
    await expect(withPlan(rows, () => undefined, changes)).rejects.toThrow('named "X--1_500-2_000"');
    const zero = [
      '{"id":"X","audio_filepath":"x","segments":[{"start":-0.0,"end":2,"text":"x"}]}',
      '{"id":"X-","audio_filepath":"y","segments":[{"start":0,"end":2,"text":"x"}]}',
    ];
    await expect(withPlan(zero.join('\n'), () => undefined, changes)).rejects.toThrow('named "X--0_000-2_000"');
    await expect(withPlan(zero.toReversed().join('\n'), () => undefined, changes)).rejects.toThrow(
      'named "X--0_000-2_000"',
    );
  });

  it('says how many names clash, and which is met first', async () => {
    const error = await refusalOf([...SAME_IDS, makeRow('session/1', [say(5, 6)]), ...SAME_SPANS]);
    expect(error.message).toContain('"session_1-1_000-2_000"');
    expect(error.message).toMatch(/, and 2 other names clash too$/);
  });

  it('takes ids and spans that are close but give other names', async () => {
    await withPlan(
      [...MINUS, makeRow('session.1', [say(1, 2)]), makeRow('session_1', [say(3, 4)])],
      ({ plan }) => expect(plan.snippetCount).toBe(7),
      {
        ...SUFFIX,
        onClash: 'refuse',
      },
    );
  });

  it('does not mind a name that a dropped loop would have had', async () => {
    const rows = [makeRow('a.b', [say(1, 2, 'x '.repeat(50))]), makeRow('a_b', [say(1, 2)])];
    await withPlan(rows, ({ plan }) => expect(plan.snippetCount).toBe(1));
  });
});

describe('planCut() with onClash suffix', () => {
  it('tells apart snippets of ids that are equal in names, and leaves the others', async () => {
    expect(await listNames(SAME_IDS)).toEqual([
      [`session_1-1_000-2_000-x${hex('session.1', 0)}`, 'session_1-5_000-6_000'],
      [`session_1-1_000-2_000-x${hex('session_1', 0)}`, 'session_1-7_000-8_000'],
    ]);
  });

  it('tells apart spans that are equal to the millisecond', async () => {
    expect(await listNames(SAME_SPANS)).toEqual([
      [`A-1_000-2_000-x${hex('A', 0)}`, `A-1_000-2_000-x${hex('A', 1)}`, 'A-5_000-6_000'],
    ]);
  });

  it('tells a minus sign from a separator', async () => {
    expect(await listNames(MINUS_CLASH)).toEqual([
      [`X--0_300-0_500-x${hex('X', 0)}`, 'X-5_000-6_000'],
      [`X--0_300-0_500-x${hex('X-', 0)}`],
      ['X---1_000-2_000'],
    ]);
  });

  it('tells apart ids whose difference no name can show', async () => {
    const text = ['\\ud800', '\\ud801'].map(
      (id, k) => `{"id":"${id}","audio_filepath":"${k}","segments":[{"start":0,"end":1,"text":"x"}]}`,
    );
    const names = await withPlan(
      text.join('\n'),
      async ({ plan }) => (await listMembers(plan)).map(({ snippet }) => snippet.snippetId),
      SUFFIX,
    );
    expect(new Set(names).size).toBe(2);
    expect(names.every((name) => /^\ufffd-0_000-1_000-x[0-9a-f]{8}$/.test(name))).toBe(true);
  });
});

describe('suffixClash()', () => {
  it('takes more digits where the first are equal', () => {
    // The SHA-256 of these begin with the same 8 digits; found by search.
    const snippet = { ordinal: 0 };
    const clash = {
      snippetId: 'x',
      snippets: [findPair()[0], findPair()[1]].map((id) => ({ recording: { id }, snippet })),
    } as Clash;
    const [a = '', b = ''] = suffixClash(clash);
    expect(a.slice(0, 10)).toBe(b.slice(0, 10));
    expect(a).not.toBe(b);
    expect(a).toHaveLength(2 + 16);
  });
});

/** Two ids whose digests begin alike: a birthday search over 32 bits. */
function findPair(): [string, string] {
  const seen = new Map<string, string>();
  for (let k = 0; ; k += 1) {
    const id = `id${k}`;
    const digits = hex(id, 0);
    const other = seen.get(digits);
    if (other !== undefined) return [other, id];
    seen.set(digits, id);
  }
}
