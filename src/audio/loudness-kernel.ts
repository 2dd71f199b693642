import { makeKernel, reserveMemory } from './wasm-kernel.js';
import type { WasmKernel } from './wasm-kernel.js';

/** The functions of loudness-kernel.wat, where their parameters are described, and the memory that they work on. */
export interface LoudnessKernel extends WasmKernel {
  resample(
    input: number,
    inputStep: number,
    row: number,
    rowStep: number,
    output: number,
    outputEnd: number,
    rowBytes: number,
    bankBytes: number,
    bankEnd: number,
  ): void;
  energy(address: number, end: number, filters: number, before: number, after: number): number;
}

/** Memories that wait to be used again: each takes gigabytes of addresses, of which a process has not many. */
const MAX_SPARE = 4;

const spare: LoudnessKernel[] = [];

/** A kernel with a memory of at least so many bytes, which hold anything; for one user until it is handed back. */
export function takeKernel(bytes: number): LoudnessKernel {
  const kernel = spare.pop() ?? makeKernel<LoudnessKernel>('loudness-kernel.wasm');
  reserveMemory(kernel, bytes);
  return kernel;
}

/** What is made of its memory must not be used any more. */
export function giveBackKernel(kernel: LoudnessKernel): void {
  if (spare.length < MAX_SPARE) spare.push(kernel);
}
