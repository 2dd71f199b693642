import { decimatingFilter } from './decimating-filter.js';
import { makeKernel, reserveMemory } from './wasm-kernel.js';
import type { WasmKernel } from './wasm-kernel.js';

/** The function of decimating-kernel.wat, where its parameters are described. */
interface Exports extends WasmKernel {
  decimate(center: number, step: number, taps: number, tapsEnd: number, output: number, outputEnd: number): void;
}

/** Samples that are taken at once beside those that the first output needs before it. */
export const CHUNK = 4096;
export const MIN_STEP = 2;
/** Of rates further apart the filter would take too much memory. */
export const MAX_STEP = 64;
const FLOAT_BYTES = 4;
/** The first tap stands alone there. */
const FIRST_TAP_FLOATS = 4;
/** It makes so many outputs at once: perhaps more than are wanted, of what lies behind the input. */
const OUTPUTS_AT_ONCE = 4;

/** Filters samples and leaves one of `step`; all of a thread share its memory, which is theirs from one call to the next alone. */
class DecimatingKernel {
  /** Takes up to `CHUNK` samples behind the context of the first output. */
  readonly input: Float32Array<ArrayBuffer>;
  /** What the last call made. */
  readonly output: Float32Array<ArrayBuffer>;
  readonly #exports = makeKernel<Exports>('decimating-kernel.wasm');
  readonly #taps: Float32Array<ArrayBuffer>;
  /** The filter whose taps stand in the memory. */
  #filter: Float32Array | undefined;

  constructor() {
    const half = decimatingFilter(MAX_STEP).length - 1;
    const outputAt = FIRST_TAP_FLOATS + half;
    const inputAt = outputAt + CHUNK / MIN_STEP + 1 + OUTPUTS_AT_ONCE;
    const end = inputAt + CHUNK + 2 * half + OUTPUTS_AT_ONCE * MAX_STEP;
    reserveMemory(this.#exports, FLOAT_BYTES * end);
    const floats = new Float32Array(this.#exports.memory.buffer);
    this.#taps = floats.subarray(0, outputAt);
    this.output = floats.subarray(outputAt, inputAt);
    this.input = floats.subarray(inputAt, end);
  }

  /** Makes so many outputs, the first of which lies on the sample of the input that has as many before it as the filter has neighbours. */
  run(filter: Float32Array, step: number, made: number): void {
    if (this.#filter !== filter) {
      this.#taps.set(filter.subarray(0, 1));
      this.#taps.set(filter.subarray(1), FIRST_TAP_FLOATS);
      this.#filter = filter;
    }
    const half = filter.length - 1;
    const center = this.input.byteOffset + FLOAT_BYTES * half;
    const tapsEnd = FLOAT_BYTES * (FIRST_TAP_FLOATS + half);
    const output = this.output.byteOffset;
    this.#exports.decimate(center, FLOAT_BYTES * step, 0, tapsEnd, output, output + FLOAT_BYTES * made);
  }
}

let kernel: DecimatingKernel | undefined;

/** That of this thread. */
export function decimatingKernel(): DecimatingKernel {
  return (kernel ??= new DecimatingKernel());
}
