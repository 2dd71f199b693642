import { randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspectRecording } from '../audio/inspect-recording.js';
import { errorMessage } from '../errors.js';
import { readAudioHeader } from './audio-header.js';
import type { DeepItem, DeepJob, DeepResult } from './deep-items.js';

const COPY_BYTES = 1 << 20;

/** Decodes piece by piece; each result is reported as soon as it is there, so that a crash behind it does not take it along. */
export async function decodeItems({ items }: DeepJob, report: (what: unknown) => Promise<void>): Promise<void> {
  for (const item of items) await report(await decodeItem(item, () => report(undefined)));
}

async function decodeItem(item: DeepJob['items'][number], tellAlive: () => Promise<void>): Promise<DeepResult> {
  const { audioPath, inside, startSeconds, durationSeconds } = item;
  let spooled: string | undefined;
  try {
    if (inside !== undefined) spooled = await spoolMember(audioPath, inside);
    const file = spooled ?? audioPath;
    const isPart = startSeconds > 0 && inside === undefined;
    const span = isPart
      ? { startSeconds, endSeconds: durationSeconds === undefined ? undefined : startSeconds + durationSeconds }
      : undefined;
    const { frames, sampleRate, clippedRuns, invalidSamples, isSilent, rmsDb } = await inspectRecording(
      file,
      span,
      tellAlive,
    );
    const headerSeconds = isPart ? undefined : readAudioHeader(file).seconds;
    return { kind: 'decoded', frames, sampleRate, clippedRuns, invalidSamples, isSilent, rmsDb, headerSeconds };
  } catch (error) {
    const reason = errorMessage(error);
    return {
      kind: 'undecodable',
      reason: spooled === undefined ? reason : reason.replaceAll(spooled, inside?.name ?? ''),
    };
  } finally {
    if (spooled !== undefined) await rm(spooled, { force: true });
  }
}

/** Copies a member into a file of its own, with its extension. */
async function spoolMember(
  tarPath: string,
  { name, offsetBytes, sizeBytes }: NonNullable<DeepItem['inside']>,
): Promise<string> {
  const extension = /\.[A-Za-z0-9]{1,8}$/u.exec(name)?.[0] ?? '';
  const spooled = path.join(tmpdir(), `cutroom-check-${randomUUID()}${extension}`);
  const source = await open(tarPath, 'r');
  try {
    const target = await open(spooled, 'wx');
    try {
      const chunk = Buffer.allocUnsafe(Math.min(COPY_BYTES, Math.max(1, sizeBytes)));
      for (let copied = 0; copied < sizeBytes;) {
        const { bytesRead } = await source.read(
          chunk,
          0,
          Math.min(chunk.length, sizeBytes - copied),
          offsetBytes + copied,
        );
        if (bytesRead === 0) throw new Error('the tar became shorter while it was read');
        await target.write(chunk, 0, bytesRead);
        copied += bytesRead;
      }
    } finally {
      await target.close();
    }
  } catch (error) {
    await rm(spooled, { force: true });
    throw error;
  } finally {
    await source.close();
  }
  return spooled;
}
