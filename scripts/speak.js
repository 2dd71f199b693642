// Speech from espeak-ng as samples of 48 kHz, for the sample and the bench's corpora.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AV_CHANNEL_LAYOUT_MONO, AV_SAMPLE_FMT_FLT, AV_SAMPLE_FMT_S16 } from 'node-av/constants';
import { FFmpegError, Frame, SoftwareResampleContext } from 'node-av/lib';

/** Hz of what `speak` returns. */
export const SPEECH_RATE = 48_000;
/** Peak of what `speak` returns: −6 dB. */
const SPEECH_PEAK = 0.5;
/** What is quieter than this part of the peak, before the first and after the last sound, is cut off: −46 dB. */
const SILENCE_LEVEL = 0.005;
/** Kept around the first and the last sound. */
const MARGIN_SECONDS = 0.01;

/** Whether espeak-ng can be run. */
export function canSpeak() {
  return spawnSync('espeak-ng', ['--version']).status === 0;
}

/**
 * Speaks a text with a voice of espeak-ng, without the silence before and after it.
 *
 * @param {string} text
 * @param {{ voice: string, wordsPerMinute: number }} options
 * @returns {Float32Array} Mono, 48 kHz, peak 0.5.
 */
export function speak(text, { voice, wordsPerMinute }) {
  const folder = mkdtempSync(path.join(tmpdir(), 'cutroom-speak-'));
  try {
    const file = path.join(folder, 'speech.wav');
    const { status, stderr, error } = spawnSync(
      'espeak-ng',
      ['-v', voice, '-s', String(wordsPerMinute), '-w', file, '--', text],
      { encoding: 'utf8' },
    );
    if (status !== 0) throw new Error(`espeak-ng failed: ${error?.message ?? stderr}`);
    return scaleToPeak(trimSilence(resampleWav(readFileSync(file))));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** espeak-ng writes PCM of 16 bits, mono, behind a header of 44 bytes. */
function resampleWav(wav) {
  const rate = wav.readUInt32LE(24);
  const input = Frame.fromAudioBuffer(wav.subarray(44, wav.length - (wav.length % 2)), {
    nbSamples: Math.floor((wav.length - 44) / 2),
    format: AV_SAMPLE_FMT_S16,
    sampleRate: rate,
    channelLayout: AV_CHANNEL_LAYOUT_MONO,
  });
  const resampler = new SoftwareResampleContext();
  check(
    resampler.allocSetOpts2(
      AV_CHANNEL_LAYOUT_MONO,
      AV_SAMPLE_FMT_FLT,
      SPEECH_RATE,
      AV_CHANNEL_LAYOUT_MONO,
      AV_SAMPLE_FMT_S16,
      rate,
    ),
  );
  resampler.setOption('filter_size', 64);
  resampler.setOption('cutoff', 0.97);
  check(resampler.init());
  const pieces = [convert(resampler, input), convert(resampler, null)];
  input.free();
  resampler.free();
  const samples = new Float32Array(pieces[0].length + pieces[1].length);
  samples.set(pieces[0]);
  samples.set(pieces[1], pieces[0].length);
  return samples;
}

function convert(resampler, frame) {
  const output = new Frame();
  output.alloc();
  output.format = AV_SAMPLE_FMT_FLT;
  output.sampleRate = SPEECH_RATE;
  output.channelLayout = AV_CHANNEL_LAYOUT_MONO;
  check(resampler.convertFrame(output, frame));
  const samples = new Float32Array(output.nbSamples);
  const bytes = output.nbSamples === 0 ? undefined : output.data[0];
  for (let n = 0; n < samples.length; n += 1) samples[n] = bytes.readFloatLE(n * 4);
  output.free();
  return samples;
}

function trimSilence(samples) {
  const threshold = peakOf(samples) * SILENCE_LEVEL;
  const margin = Math.round(MARGIN_SECONDS * SPEECH_RATE);
  const isHeard = (x) => Math.abs(x) > threshold;
  const start = Math.max(0, samples.findIndex(isHeard) - margin);
  return samples.slice(start, Math.min(samples.length, samples.findLastIndex(isHeard) + 1 + margin));
}

function scaleToPeak(samples) {
  const gain = SPEECH_PEAK / peakOf(samples);
  return samples.map((x) => x * gain);
}

function peakOf(samples) {
  let peak = 0;
  for (const x of samples) peak = Math.max(peak, Math.abs(x));
  return peak;
}

function check(status) {
  FFmpegError.throwIfError(status, 'resample speech');
}
