import { readCeltHeader } from './celt-header.js';
import type { CeltHeader } from './celt-header.js';
import type { FileChunks } from './file-chunks.js';
import type { PacketIndex } from './packet-index.js';
import type { FindStart } from './packet-start.js';

const RATE = 48_000;
/** What usually is enough, and what is looked at where it is not. */
const REACHES_FRAMES = [0.46 * RATE, 4 * RATE];
/** Where packets do not tell: their energies count by half, at most, 20 ms later. */
const BLIND_FRAMES = 0.8 * RATE;

/**
 * In Opus (CELT), as late as what a decoder does not know of the audio before has faded from the packet. There are three such things:
 *
 * - The energy of a band is told relative to the frame before, which counts 0.5 to 0.9 by the length of frames, unless it is told anew
 *   (RFC 6716, section 4.3.2.1).
 * - The pitch filter adds what was put out a period ago, by a gain of up to 0.75 (section 4.3.7.1).
 * - Short blocks that came out empty are filled with noise that is as loud as the last two frames without short blocks (section 4.3.5).
 *
 * Each is bounded from the headers of the packets, so that less than 2^-17 of full scale is left. Where it does not fade, decoding
 * begins at the start of the recording. Nearly always half a second is enough.
 */
export const opusStart: FindStart = (index, packet, file) => {
  const start = index.startOf(packet);
  for (const reach of REACHES_FRAMES) {
    const first = Math.max(index.firstPacket, index.packetAt(start - reach));
    const headers = readHeaders(index, file, first, packet);
    if (headers === undefined) return index.packetAt(start - BLIND_FRAMES);
    const preroll = findPreroll(headers);
    if (preroll !== undefined) return packet - preroll;
  }
  return -1;
};

/** @returns undefined where a packet does not tell, or the file became shorter. */
function readHeaders(index: PacketIndex, file: FileChunks, first: number, last: number): CeltHeader[] | undefined {
  const packets = index.stream(file, first);
  const headers: CeltHeader[] = [];
  for (let packet = first; packet <= last; packet += 1) {
    const data = packets.next();
    const header = data && readCeltHeader(data);
    if (header === undefined) return undefined;
    headers.push(header);
  }
  return headers;
}

/** By how many packets before the last one decoding has to begin; undefined where there are not so many. */
function findPreroll(headers: readonly CeltHeader[]): number | undefined {
  for (let preroll = 2; preroll < headers.length; preroll += Math.ceil(preroll / STEP_PARTS)) {
    const decoded = headers.slice(-1 - preroll);
    const errors = energyErrors(decoded);
    if (errors !== undefined && outputError(decoded, errors) <= FADED) return preroll;
  }
  return undefined;
}

/** Prerolls to be tried grow by no more than such a part. */
const STEP_PARTS = 24;
/** Errors of energies of a decoder that knows nothing, in powers of 2; the energies themselves lie within 2^±16. */
const UNKNOWN = 16;
/** An error of so much was found to leave less than a quarter of it in the output, of full scale. */
const FADED = 2 ** -16.5;
/** RFC 6716, section 4.3.2.1: how much of the frame before counts, by length of frames. */
const ENERGY_FACTORS: ReadonlyMap<number, number> = new Map([
  [120, 29_440 / 32_768],
  [240, 26_112 / 32_768],
  [480, 21_248 / 32_768],
  [960, 16_384 / 32_768],
]);
/** Frames from this length on may be filled up with noise. */
const FILLED_FRAMES = 480;

/** How wrong each frame may be before the filter, as a part of its signal; undefined where the last one leaves errors for those to come. */
function energyErrors(headers: readonly CeltHeader[]): number[] | undefined {
  let energy = UNKNOWN;
  let [earlier, before] = [UNKNOWN, UNKNOWN];
  let own = UNKNOWN;
  let isFilled = false;
  const errors: number[] = [];
  for (const { frames, isIntra, isTransient } of headers) {
    energy *= isIntra ? 0 : (ENERGY_FACTORS.get(frames) ?? 1);
    isFilled = frames >= FILLED_FRAMES;
    const last = own;
    own = Math.max(energy, isTransient && isFilled ? Math.max(earlier, before) : 0);
    // Frames overlap.
    errors.push(Math.min(1, Math.max(own, last)));
    if (isTransient) before = Math.max(before, energy);
    else [earlier, before] = [before, energy];
  }
  const noise = isFilled ? Math.max(earlier, before) : 0;
  return Math.max(energy, noise, errors.at(-1) ?? 1) <= FADED ? errors : undefined;
}

/** Errors of the output are followed in steps of the shortest frame; the filter goes over from one frame's to the next in as many. */
const STEP_FRAMES = 120;
const FILTER_REACH_STEPS = Math.ceil(1024 / STEP_FRAMES) + 1;
/** The filter takes in so many samples beside that a period ago. */
const FILTER_SIDE_FRAMES = 2;

/** How wrong the output may be that the filter adds from, once the last frame is put out. */
function outputError(headers: readonly CeltHeader[], errors: readonly number[]): number {
  const output: number[] = Array.from({ length: FILTER_REACH_STEPS }, () => 1);
  for (const [at, { frames }] of headers.entries()) {
    const filters = headers.slice(Math.max(0, at - 2), at + 1).filter(({ gain }) => gain > 0);
    for (let step = 0; step < frames / STEP_FRAMES; step += 1) {
      const here = output.length;
      let added = 0;
      for (const { gain, periodFrames } of filters) {
        const from = here - Math.ceil((periodFrames + FILTER_SIDE_FRAMES) / STEP_FRAMES);
        const to = here - Math.floor((periodFrames - FILTER_SIDE_FRAMES) / STEP_FRAMES);
        let past = 0;
        for (let k = Math.max(0, from); k <= Math.min(here - 1, to); k += 1) past = Math.max(past, output[k] ?? 1);
        // Periods shorter than a step add from the step itself too.
        added = Math.max(added, gain * past + (to >= here ? ((errors[at] ?? 1) * gain) / (1 - gain) : 0));
      }
      output.push((errors[at] ?? 1) + added);
    }
  }
  return Math.max(...output.slice(-FILTER_REACH_STEPS));
}
