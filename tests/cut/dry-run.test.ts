import { describe, expect, it } from 'vitest';
import { writeDryRunManifest } from '#cutroom/cut/dry-run.js';
import { CanceledError } from '#cutroom/errors.js';
import { dryRun, listMembers, makeRow, say, withPlan } from './plan-manifest.js';

describe('writeDryRunManifest()', () => {
  it('writes rows in the order of the tar, one a line', async () => {
    const rows = [makeRow('b', [say(10, 12), say(2, 3)]), makeRow('a', [say(0, 5)])];
    await withPlan(
      rows,
      async ({ plan }) => {
        const output = await dryRun(plan);
        const members = (await listMembers(plan)).map(({ snippet }) => snippet.member);
        expect(members).toEqual(['a-0_000-5_000.ogg', 'b-10_000-12_000.ogg', 'b-2_000-3_000.ogg']);
        expect(output.rows.map((row) => row['audio_filepath'])).toEqual(members);
        expect(output.manifest.endsWith('}\n')).toBe(true);
        expect(output.metrics).toMatchObject({
          num_output_snippets: 3,
          output_total_duration_sec: 8,
          snippet_duration_histogram_30s: { '0-30': 3 },
          complete: true,
          dry_run: true,
          audio_architecture: null,
          plan_hash: plan.hash,
          input_sha256: plan.inputSha256,
        });
      },
      { outputFormat: 'ogg', maxSegmentGapSeconds: 0 },
    );
  });

  it('writes an empty manifest and metrics where nothing can be cut', async () => {
    await withPlan([makeRow('a', [])], async ({ plan }) => {
      const output = await dryRun(plan);
      expect(output.manifest).toBe('');
      expect(output.metrics).toMatchObject({
        num_input_audios: 1,
        num_output_snippets: 0,
        snippet_duration_histogram_30s: {},
      });
    });
  });

  it('passes a long manifest on in pieces of whole rows', async () => {
    const rows = Array.from({ length: 400 }, (_, k) => makeRow(`r${k}`, [say(0, 5, 'x'.repeat(500))]));
    await withPlan(rows, async ({ plan }) => {
      const chunks: string[] = [];
      const reports: number[] = [];
      await writeDryRunManifest(plan, (chunk) => Promise.resolve(void chunks.push(chunk)), {
        onProgress: (count) => reports.push(count),
      });
      expect(chunks.length).toBeGreaterThan(3);
      expect(chunks.every((chunk) => chunk.endsWith('}\n') && chunk.length < 70_000)).toBe(true);
      expect(chunks.join('').split('\n')).toHaveLength(401);
      expect(reports.at(-1)).toBe(400);
    });
  });

  it('stops when it is canceled, and when a write fails', async () => {
    await withPlan([makeRow('a', [say(0, 5)])], async ({ plan }) => {
      const fail = (): Promise<void> => Promise.reject(new Error('disk full'));
      await expect(writeDryRunManifest(plan, fail)).rejects.toThrow('disk full');
      const signal = AbortSignal.abort();
      await expect(writeDryRunManifest(plan, () => Promise.resolve(), { signal })).rejects.toBeInstanceOf(
        CanceledError,
      );
    });
  });
});
