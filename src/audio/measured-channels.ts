import { kWeighting } from './k-weighting.js';
import { giveBackKernel, takeKernel, type LoudnessKernel } from './loudness-kernel.js';
import { measuringFilter, type MeasuringFilter } from './measuring-filter.js';

/** Samples of a channel that are taken at once, fewer where more than so many came out. */
const CHUNK = 4096;
const MAX_OUTPUT = 1 << 16;
const FLOAT_BYTES = 4;
const ALIGNMENT = 16;
/** b0, b1 - a1 b0, b2 - a2 b0, a1 and a2, each of two filters. */
const FILTER_BYTES = 5 * 2 * 8;
/** Two states of two filters, and behind them the height of the highest sample. */
const STATE_BYTES = 2 * 2 * 8 + FLOAT_BYTES;
const HEIGHT_BYTES = 2 * 2 * 8;

/** Where a channel has what in the kernel's memory, in bytes. */
interface ChannelPlaces {
  input: number;
  output: number;
  /** States of the filters: those that hold, and those that the next call writes. */
  before: number;
  after: number;
}

/**
 * The channels of a signal, brought to the rate at which they are measured, and the energy of their K-weighted samples.
 *
 * Before its first sample and behind its last one the signal counts as silence:
 *
 * ```
 * input   0 0 0|s s s s s s|s s s s …     what is left of the last call, then what is pushed
 *         └── taps ──┘
 * output       o  o  o  o  …              `samples`, until the next call
 * ```
 */
export class MeasuredChannels implements Disposable {
  /** Of each channel; the first so many hold as `push` answered. */
  readonly samples: readonly Float32Array[];
  readonly #kernel: LoudnessKernel;
  readonly #places: readonly ChannelPlaces[];
  readonly #inputs: readonly Float32Array[];
  readonly #floats: Float32Array;
  /** Undefined where the rates are the same. */
  readonly #filter: MeasuringFilter | undefined;
  readonly #filters: number;
  readonly #bank: number;
  readonly #chunk: number;
  /** Samples that an input holds, of which the next output begins with the first. */
  #held: number;
  /** How far behind that one it lies. */
  #phase = 0;

  /**
   * @param count of channels.
   * @param sourceRate Hz of what is pushed.
   * @param targetRate Hz of what is measured.
   * @throws Error where the filter between the rates would be too large.
   */
  constructor(count: number, sourceRate: number, targetRate: number) {
    const filter = sourceRate === targetRate ? undefined : measuringFilter(sourceRate, targetRate);
    const chunk = Math.max(1, Math.min(CHUNK, Math.floor((MAX_OUTPUT * sourceRate) / targetRate)));
    const inputSamples = filter === undefined ? 0 : chunk + filter.taps;
    const outputSamples = Math.ceil(((chunk + 1) * targetRate) / sourceRate) + 1;
    let bytes = 0;
    const reserve = (size: number): number => {
      const place = bytes;
      bytes += ALIGNMENT * Math.ceil(size / ALIGNMENT);
      return place;
    };
    this.#filters = reserve(FILTER_BYTES);
    this.#bank = reserve(FLOAT_BYTES * (filter?.bank.length ?? 0));
    this.#places = Array.from({ length: count }, () => ({
      before: reserve(STATE_BYTES),
      after: reserve(STATE_BYTES),
      input: reserve(FLOAT_BYTES * inputSamples),
      output: reserve(FLOAT_BYTES * outputSamples),
    }));
    this.#kernel = takeKernel(bytes);
    const { buffer } = this.#kernel.memory;
    new Uint8Array(buffer, 0, bytes).fill(0);
    new Float64Array(buffer, this.#filters).set(coefficientsOf(targetRate));
    new Float32Array(buffer, this.#bank).set(filter?.bank ?? []);
    this.#floats = new Float32Array(buffer);
    this.samples = this.#places.map(({ output }) => new Float32Array(buffer, output, outputSamples));
    this.#inputs =
      filter === undefined
        ? this.samples
        : this.#places.map(({ input }) => new Float32Array(buffer, input, inputSamples));
    this.#filter = filter;
    this.#chunk = chunk;
    this.#held = filter === undefined ? 0 : filter.taps / 2 - 1;
  }

  /**
   * Takes samples from `from` on, as many as there is room for.
   *
   * @param channels undefined is silence.
   * @param to not beyond the end of any channel.
   * @returns how many it took, and how many samples came out.
   */
  push(channels: readonly Float32Array[] | undefined, from: number, to: number): { taken: number; made: number } {
    const taken = Math.min(this.#chunk, to - from);
    const start = this.#held;
    for (const [index, input] of this.#inputs.entries()) {
      const samples = channels?.[index];
      if (samples === undefined) input.fill(0, start, start + taken);
      else input.set(samples.subarray(from, from + taken), start);
    }
    return { taken, made: this.#filter === undefined ? taken : this.#resample(this.#filter, taken) };
  }

  /** The sum of the squares of the weighted samples of a part; what is no number counts as silence. The parts of a channel follow one another. */
  energy(channel: number, from: number, to: number): number {
    const energy = this.#energy(channel, from, to);
    const isNumber = Number.isFinite(energy);
    if (!isNumber) silenceNoNumbers(this.samples[channel]?.subarray(from, to) ?? new Float32Array(0));
    const places = this.#placesOf(channel);
    const sum = isNumber ? energy : this.#energy(channel, from, to);
    [places.before, places.after] = [places.after, places.before];
    return sum;
  }

  /** The height of the highest sample that the last call of `energy` for this channel took. */
  highest(channel: number): number {
    return this.#floats[(this.#placesOf(channel).before + HEIGHT_BYTES) / FLOAT_BYTES] ?? 0;
  }

  [Symbol.dispose](): void {
    giveBackKernel(this.#kernel);
  }

  #energy(channel: number, from: number, to: number): number {
    const { output, before, after } = this.#placesOf(channel);
    const start = output + FLOAT_BYTES * from;
    return this.#kernel.energy(start, output + FLOAT_BYTES * to, this.#filters, before, after);
  }

  #placesOf(channel: number): ChannelPlaces {
    const places = this.#places[channel];
    if (places === undefined) throw new RangeError(`There is no channel ${channel}`);
    return places;
  }

  /** All outputs whose taps lie in what the inputs hold. */
  #resample(filter: MeasuringFilter, taken: number): number {
    const { taps, phases, step } = filter;
    this.#held += taken;
    const room = this.#held - taps;
    const made = room < 0 ? 0 : Math.floor((room * phases + phases - 1 - this.#phase) / step) + 1;
    const next = this.#phase + made * step;
    for (const places of made > 0 ? this.#places : []) this.#runKernel(places, filter, made);
    const done = Math.floor(next / phases);
    this.#phase = next % phases;
    for (const input of this.#inputs) input.copyWithin(0, done, this.#held);
    this.#held -= done;
    return made;
  }

  #runKernel({ input, output }: ChannelPlaces, { taps, phases, step }: MeasuringFilter, made: number): void {
    const rowBytes = FLOAT_BYTES * taps;
    const wholeStep = Math.floor(step / phases);
    this.#kernel.resample(
      input,
      FLOAT_BYTES * wholeStep - rowBytes,
      this.#bank + rowBytes * this.#phase,
      rowBytes * (step - wholeStep * phases - 1),
      output,
      output + FLOAT_BYTES * made,
      rowBytes,
      rowBytes * phases,
      this.#bank + rowBytes * phases,
    );
  }
}

/** As the kernel wants them: its states are reckoned out of the input and the states before, not out of the output. */
function coefficientsOf(sampleRate: number): number[] {
  const filters = kWeighting(sampleRate);
  return [
    filters.map(({ b0 }) => b0),
    filters.map(({ b0, b1, a1 }) => b1 - a1 * b0),
    filters.map(({ b0, b2, a2 }) => b2 - a2 * b0),
    filters.map(({ a1 }) => a1),
    filters.map(({ a2 }) => a2),
  ].flat();
}

function silenceNoNumbers(samples: Float32Array): void {
  for (const [at, sample] of samples.entries()) if (!Number.isFinite(sample)) samples[at] = 0;
}
