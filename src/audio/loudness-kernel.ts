import { readFileSync } from 'node:fs';

/** What is used of it here; the types of Node.js leave it to those of browsers. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
};

/** The functions of loudness-kernel.wat, where their parameters are described, and the memory that they work on. */
export interface LoudnessKernel {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
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

const PAGE_BYTES = 1 << 16;
/** Memories that wait to be used again: each takes gigabytes of addresses, of which a process has not many. */
const MAX_SPARE = 4;

let compiled: object | undefined;
const spare: LoudnessKernel[] = [];

/** A kernel with a memory of at least so many bytes, which hold anything; for one user until it is handed back. */
export function takeKernel(bytes: number): LoudnessKernel {
  compiled ??= new WebAssembly.Module(readFileSync(new URL('loudness-kernel.wasm', import.meta.url)));
  const kernel = spare.pop() ?? (new WebAssembly.Instance(compiled).exports as LoudnessKernel);
  const missing = bytes - kernel.memory.buffer.byteLength;
  if (missing > 0) kernel.memory.grow(Math.ceil(missing / PAGE_BYTES));
  return kernel;
}

/** What is made of its memory must not be used any more. */
export function giveBackKernel(kernel: LoudnessKernel): void {
  if (spare.length < MAX_SPARE) spare.push(kernel);
}
