// Makes conversation.opus and conversation.jsonl beside this file: `node samples/make-sample.js`. Needs espeak-ng.
import { statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MediaWriter } from '../scripts/media-writer.js';
import { speak, SPEECH_RATE } from '../scripts/speak.js';
import { LEAD_SECONDS, SPEAKERS, TRAIL_SECONDS, TURNS } from './conversation.js';

const AUDIO_NAME = 'conversation.opus';
/** Amplitude of the room's noise: −70 dB of full scale, RMS. */
const ROOM_AMPLITUDE = 10 ** (-70 / 20) * Math.sqrt(3);
const RUSTLE_AMPLITUDE = 0.02;

const spoken = placeTurns();
const frames = Math.ceil(spoken.at(-1).end + TRAIL_SECONDS) * SPEECH_RATE;
const audioPath = fileURLToPath(new URL(AUDIO_NAME, import.meta.url));
encode(audioPath, mix(spoken, frames));
const row = describeRecording(spoken, frames, statSync(audioPath).size);
writeFileSync(new URL('conversation.jsonl', import.meta.url), JSON.stringify(row) + '\n');
console.log(`${AUDIO_NAME}: ${row.duration} s, ${row.audio_size} bytes, ${row.segments.length} segments`);

/**
 * Speaks every turn and gives it its place:
 *
 *     ──lead──┤ada……├─pause─┤ben……├─(negative pause)
 *                              ┤ada……├──trail──
 */
function placeTurns() {
  let cursor = LEAD_SECONDS;
  return TURNS.map((turn) => {
    const speaker = SPEAKERS[turn.speaker];
    const samples = turn.text === undefined ? rustle(turn.seconds) : speak(turn.text, speaker);
    const startFrame = Math.round((cursor + turn.pause) * SPEECH_RATE);
    const start = startFrame / SPEECH_RATE;
    const end = (startFrame + samples.length) / SPEECH_RATE;
    cursor = Math.max(cursor, end);
    return { ...turn, pan: speaker.pan, samples, startFrame, start, end };
  });
}

function mix(turns, frameCount) {
  const audio = new Float32Array(frameCount * 2);
  for (let k = 0; k < audio.length; k += 1) audio[k] = ROOM_AMPLITUDE * noiseAt(k, 1);
  for (const { samples, startFrame, pan } of turns) {
    for (let n = 0; n < samples.length; n += 1) {
      audio[(startFrame + n) * 2] += samples[n] * (1 - pan);
      audio[(startFrame + n) * 2 + 1] += samples[n] * pan;
    }
  }
  return audio;
}

function encode(filePath, audio) {
  const writer = new MediaWriter(filePath, {
    container: 'opus',
    tracks: [{ codec: 'libopus', sampleRate: SPEECH_RATE, channels: 2, input: 'f32', bitRate: 64_000 }],
    muxerOptions: { serial_offset: '1' },
  });
  const piece = SPEECH_RATE * 2;
  for (let at = 0; at < audio.length; at += piece) writer.write(audio.subarray(at, at + piece));
  writer.close();
}

function describeRecording(turns, frameCount, sizeBytes) {
  const segments = turns.map(({ speaker, text = '', itn = text, start, end }) => ({
    speaker,
    start: toMillis(start),
    end: toMillis(end),
    text,
    text_ITN: itn,
    ...(text === '' ? {} : { words: placeWords(text, start, end) }),
  }));
  const duration = frameCount / SPEECH_RATE;
  return {
    id: 'marsh-trip',
    audio_filepath: AUDIO_NAME,
    title: 'Planning a trip to the marsh',
    language: 'en',
    license: 'CC0-1.0',
    audio_sample_rate: SPEECH_RATE,
    audio_num_channels: 2,
    audio_size: sizeBytes,
    resampled_audio_filepath: 'conversation-16k.wav',
    swift_audio_filepath: 'sample-bucket/conversation.opus',
    duration,
    actual_duration: duration,
    proposed_duration: duration,
    text: segments
      .map(({ text }) => text)
      .filter((text) => text !== '')
      .join(' '),
    alignment: segments.map(({ speaker, start, end }) => [speaker, start, end]),
    segments,
  };
}

/** Words share the time of their segment by their number of letters, with one letter's time for the gap. */
function placeWords(text, start, end) {
  const words = text.split(' ');
  const letters = words.reduce((sum, word) => sum + word.length + 1, -1);
  let before = 0;
  return words.map((word) => {
    const at = (count) => toMillis(start + ((end - start) * count) / letters);
    const placed = { word, start: at(before), end: at(before + word.length) };
    before += word.length + 1;
    return placed;
  });
}

/** A rustle of paper: noise whose level goes up and down. */
function rustle(seconds) {
  const samples = new Float32Array(Math.round(seconds * SPEECH_RATE));
  return samples.map((_, n) => {
    const level = Math.sin((Math.PI * n) / samples.length) * (0.6 + 0.4 * Math.sin(n / 1700));
    return RUSTLE_AMPLITUDE * level * noiseAt(n, 2);
  });
}

/** Noise in ±1: a hash of the index. */
function noiseAt(index, seed) {
  let h = index ^ Math.imul(seed, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 31 - 1;
}

function toMillis(seconds) {
  return Math.round(seconds * 1000) / 1000;
}
