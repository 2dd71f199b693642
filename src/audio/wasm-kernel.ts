import { readFileSync } from 'node:fs';

/** What is used of it here; the types of Node.js leave it to those of browsers. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
};

/** Functions in WebAssembly, and the memory that they work on. */
export interface WasmKernel {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
}

const PAGE_BYTES = 1 << 16;
const compiled = new Map<string, object>();

/** A new kernel of a file of WebAssembly beside this one, which is compiled once. */
export function makeKernel<T extends WasmKernel>(file: string): T {
  const module = compiled.get(file) ?? new WebAssembly.Module(readFileSync(new URL(file, import.meta.url)));
  compiled.set(file, module);
  return new WebAssembly.Instance(module).exports as T;
}

/** Gives a kernel a memory of at least so many bytes; what stood in it stays, but buffers of before must not be used any more. */
export function reserveMemory({ memory }: WasmKernel, bytes: number): void {
  const missing = bytes - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
}
