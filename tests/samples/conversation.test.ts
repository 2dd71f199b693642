// The bundled sample is what its manifest says: measured on the decoded audio, against the times of its segments.
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { decodeFile } from '../support/decode.js';
import type { DecodedAudio } from '../support/decode.js';

interface Segment {
  speaker: 'ada' | 'ben';
  start: number;
  end: number;
  text: string;
  words?: { word: string; start: number; end: number }[];
}

interface Row {
  audio_filepath: string;
  audio_size: number;
  duration: number;
  text: string;
  segments: Segment[];
}

const samples = new URL('../../samples/', import.meta.url);
const row = JSON.parse(readFileSync(new URL('conversation.jsonl', samples), 'utf8')) as Row;
const audioPath = fileURLToPath(new URL(row.audio_filepath, samples));
const spoken = row.segments.filter(({ text }) => text !== '');
/** RMS of the quiet room and the margin to what counts as speech. */
const ROOM_DB = -70;
const SPEECH_DB = -40;

let audio: DecodedAudio;
beforeAll(() => {
  audio = decodeFile(audioPath);
});

/** RMS in dB of full scale of a span of one channel. */
function measureDb(startSeconds: number, endSeconds: number, channel: 0 | 1): number {
  let sum = 0;
  const start = Math.round(startSeconds * audio.sampleRate);
  const end = Math.round(endSeconds * audio.sampleRate);
  for (let n = start; n < end; n += 1) sum += (audio.samples[n * 2 + channel] ?? 0) ** 2;
  return 10 * Math.log10(sum / (end - start));
}

describe('samples/conversation', () => {
  it('is 3 minutes or more of 48 kHz stereo in less than 3 MB', () => {
    expect([audio.sampleRate, audio.channels]).toEqual([48_000, 2]);
    expect(audio.frames).toBe(row.duration * 48_000);
    expect(row.duration).toBeGreaterThanOrEqual(180);
    expect(statSync(audioPath).size).toBe(row.audio_size);
    expect(row.audio_size).toBeLessThan(3e6);
  });

  it('does not clip', () => {
    let peak = 0;
    for (const x of audio.samples) peak = Math.max(peak, Math.abs(x));
    expect(peak).toBeGreaterThan(0.2);
    expect(peak).toBeLessThan(0.9);
  });

  it('holds speech in every segment with a text, louder on the side of its speaker', () => {
    for (const { speaker, start, end } of spoken) {
      const left = measureDb(start, end, 0);
      const right = measureDb(start, end, 1);
      expect(Math.max(left, right)).toBeGreaterThan(SPEECH_DB);
      expect(left > right ? 'ada' : 'ben').toBe(speaker);
      expect(Math.max(measureDb(start, start + 0.15, 0), measureDb(start, start + 0.15, 1))).toBeGreaterThan(-50);
      expect(Math.max(measureDb(end - 0.15, end, 0), measureDb(end - 0.15, end, 1))).toBeGreaterThan(-50);
    }
  });

  it('is quiet between the segments, before the first and after the last', () => {
    const edges = [{ end: 0 }, ...row.segments, { start: row.duration }];
    let end = 0;
    for (const { start = 0, ...rest } of edges.slice(1) as { start?: number; end?: number }[]) {
      // A codec spreads what is loud over some milliseconds.
      if (start - end > 0.1) {
        for (const channel of [0, 1] as const) {
          expect(measureDb(end + 0.03, start - 0.03, channel)).toBeLessThan(ROOM_DB + 10);
        }
      }
      end = Math.max(end, rest.end ?? 0);
    }
  });

  it('has the features that the cut is to meet', () => {
    const gaps = row.segments.slice(1).map((segment, k) => segment.start - (row.segments[k]?.end ?? 0));
    expect(gaps.filter((gap) => gap > 5)).toHaveLength(1);
    expect(gaps.filter((gap) => gap <= -0.5)).toHaveLength(1);
    expect(gaps.filter((gap) => gap < 0 && gap > -0.5)).toHaveLength(1);
    expect(row.segments.filter(({ text }) => text === '')).toHaveLength(1);
    expect(spoken.filter(({ start, end }) => end - start > 30)).toHaveLength(1);
    const loops = spoken.filter(({ text }) => text.split('check the batteries').length > 12);
    expect(loops).toHaveLength(1);
    expect(row.duration - (row.segments.at(-1)?.end ?? 0)).toBeGreaterThan(5);
  });

  it('places every word inside its segment, in order', () => {
    for (const { text, start, end, words = [] } of spoken) {
      expect(words.map(({ word }) => word).join(' ')).toBe(text);
      const times = words.flatMap((word) => [word.start, word.end]);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect([times[0], times.at(-1)]).toEqual([start, end]);
    }
    expect(row.text).toBe(spoken.map(({ text }) => text).join(' '));
  });
});
