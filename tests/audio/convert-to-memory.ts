// Converts recordings as `build` and `tar` do, into memory.
import { setImmediate } from 'node:timers/promises';
import { convertRecording } from '#cutroom/audio/convert-recording.js';
import type { ConvertRequest, ConvertedFacts } from '#cutroom/audio/convert-recording.js';

/** Seconds as whole microseconds. */
export const SECOND = 1_000_000;

export interface Converted {
  bytes: Buffer;
  facts: ConvertedFacts;
}

/** Converts with the settings that most tests want: FLAC, the recording's own rate, the average of its channels. */
export async function convertToMemory(
  request: Pick<ConvertRequest, 'path'> & Partial<ConvertRequest>,
  pieces: Buffer[] = [],
): Promise<Converted> {
  const patches: { offset: number; bytes: Buffer }[] = [];
  const facts = await convertRecording(
    { format: 'flac', sampleRate: null, channel: 'average', compressionLevel: null, name: 'utterance', ...request },
    {
      write: (bytes) => void pieces.push(Buffer.from(bytes)),
      patch: (offset, bytes) => void patches.push({ offset, bytes: Buffer.from(bytes) }),
    },
    () => setImmediate(),
  );
  const bytes = Buffer.concat(pieces);
  for (const patch of patches) patch.bytes.copy(bytes, patch.offset);
  return { bytes, facts };
}
