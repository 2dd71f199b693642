import type { CutPlan } from './cut-plan.js';
import type { RecordingOutcome } from './run-journal.js';
import { toSeconds } from '../audio/times.js';
import type { FailureRecord } from './types.js';

/**
 * Writes `failures.jsonl`: one line a failure, in the order of the manifest.
 *
 * @param planned what was found at planning, in that order already
 * @param failed the recordings of which snippets are missing
 */
export async function writeFailures(
  plan: CutPlan,
  planned: readonly FailureRecord[],
  failed: ReadonlyMap<number, RecordingOutcome>,
  write: (chunk: string) => Promise<void>,
): Promise<void> {
  const put = (record: FailureRecord): Promise<void> => write(`${JSON.stringify(record)}\n`);
  let next = 0;
  for (const index of [...failed.keys()].toSorted((a, b) => a - b)) {
    const { line } = plan.summary(index);
    for (let record = planned[next]; record !== undefined && record.line <= line; record = planned[next]) {
      await put(record);
      next += 1;
    }
    for await (const record of lostSnippets(plan, index, failed.get(index))) await put(record);
  }
  for (const record of planned.slice(next)) await put(record);
}

async function* lostSnippets(
  plan: CutPlan,
  index: number,
  outcome: RecordingOutcome | undefined,
): AsyncGenerator<FailureRecord> {
  const recording = await plan.recording(index);
  const made = new Set(outcome?.snippets.map(([ordinal]) => ordinal));
  const { reason, message, hint } = outcome?.failure ?? {
    reason: 'decoder_crashed',
    message: 'its decoder process ended before the snippet was made',
  };
  for (const snippet of recording.snippets) {
    if (made.has(snippet.ordinal)) continue;
    yield {
      kind: 'snippet',
      reason,
      message,
      ...(hint === undefined ? {} : { hint }),
      file: recording.audioPath,
      line: recording.line,
      id: recording.id,
      snippet_id: snippet.snippetId,
      start: toSeconds(snippet.startMicros),
      end: toSeconds(snippet.endMicros),
    };
  }
}
