import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { measureRecording } from '#cutroom/audio/measure-recording.js';
import { writeEncoded } from '../../support/encode.js';
import { makeNoise } from '../../support/signals.js';

it.each([8000, 44_100])(
  'Ogg Vorbis of 1 to 4,000 frames has the length that it was encoded with, at %i Hz',
  async (rate) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'cutroom-pages-'));
    try {
      const file = path.join(folder, 'x.ogg');
      // One of 13 lengths, with all remainders by 128.
      for (let frames = 1; frames <= 4000; frames += 13) {
        writeEncoded(file, { samples: makeNoise(frames), sampleRate: rate, channels: 1 }, 'vorbis');
        expect((await measureRecording(file, () => Promise.resolve())).frames).toBe(frames);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
