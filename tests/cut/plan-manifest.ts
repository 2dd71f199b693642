// Plans manifests given as rows or as text.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CutPlan, PlannedMember } from '#cutroom/cut/cut-plan.js';
import { writeDryRunManifest, writeDryRunMetrics } from '#cutroom/cut/dry-run.js';
import { planCut, type PlanContext } from '#cutroom/cut/plan.js';
import type { FailureRecord, PlanSettings } from '#cutroom/cut/types.js';
import { createWordsTokenizer } from '#cutroom/text/words.js';

/** Data that other projects' programs made; absent outside the project's own machines. */
export const SHARED = fileURLToPath(new URL('../../../shared', import.meta.url));

export const FACTS = { datasetName: 'test', cutroomVersion: '1.2.3', options: { some: 'option' } };

export function makeSettings(changes: Partial<PlanSettings> = {}): PlanSettings {
  return {
    inputManifest: 'manifest.jsonl',
    audioDir: '/data',
    audioFilepathKey: 'audio_filepath',
    audioPathResolution: 'basename',
    maxDurationSeconds: 30,
    minDurationSeconds: 0.5,
    minOverlapSeconds: 0.5,
    maxSegmentGapSeconds: 30,
    repetitionFilter: true,
    ngramN: 10,
    ngramMaxCount: 3,
    targetSampleRate: 16_000,
    outputFormat: 'flac',
    onClash: 'refuse',
    ...changes,
  };
}

export interface Planned {
  plan: CutPlan;
  failures: FailureRecord[];
}

/** Plans the text of a manifest, hands the plan over, and removes everything. */
export async function withPlan<T>(
  manifest: string | Buffer | readonly unknown[],
  work: (planned: Planned) => Promise<T> | T,
  changes: Partial<PlanSettings> = {},
  context: Partial<PlanContext> = {},
): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'cutroom-plan-'));
  try {
    const inputManifest = path.join(folder, 'manifest.jsonl');
    const isText = typeof manifest === 'string' || Buffer.isBuffer(manifest);
    await writeFile(inputManifest, isText ? manifest : manifest.map((row) => JSON.stringify(row)).join('\n'));
    return await withPlanOf(makeSettings({ inputManifest, ...changes }), work, context);
  } finally {
    await rm(folder, { recursive: true });
  }
}

export async function withPlanOf<T>(
  settings: PlanSettings,
  work: (planned: Planned) => Promise<T> | T,
  context: Partial<PlanContext> = {},
): Promise<T> {
  const failures: FailureRecord[] = [];
  const tokenizer = createWordsTokenizer();
  const plan = await planCut(settings, { tokenizer, onFailure: (record) => failures.push(record), ...context });
  try {
    return await work({ plan, failures });
  } finally {
    await plan.close();
  }
}

export async function listMembers(plan: CutPlan): Promise<PlannedMember[]> {
  const members: PlannedMember[] = [];
  for await (const member of plan.membersInOrder()) members.push(member);
  return members;
}

export interface DryRunOutput {
  /** The text of the manifest. */
  manifest: string;
  rows: Record<string, unknown>[];
  metrics: Record<string, unknown>;
  metricsText: string;
}

export async function dryRun(plan: CutPlan): Promise<DryRunOutput> {
  let manifest = '';
  let metricsText = '';
  const metrics = await writeDryRunManifest(plan, (chunk) => Promise.resolve(void (manifest += chunk)));
  await writeDryRunMetrics(metrics, (chunk) => Promise.resolve(void (metricsText += chunk)), FACTS);
  const lines = manifest.split('\n').slice(0, -1);
  return {
    manifest,
    rows: lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    metrics: JSON.parse(metricsText) as Record<string, unknown>,
    metricsText,
  };
}

/** A segment with text. */
export function say(start: unknown, end: unknown, text: unknown = 'hello', more: object = {}): object {
  return { start, end, text, ...more };
}

export function makeRow(id: unknown, segments: unknown, more: object = {}): Record<string, unknown> {
  return { id, audio_filepath: `in/${String(id).replaceAll('/', '+')}.wav`, segments, ...more };
}
