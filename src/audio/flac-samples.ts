import { FlacEncoder } from './flac-encoder.js';

/** A mono FLAC of samples: floats are rounded to 16 bits half to even, and set to full scale where they are beyond it. */
export function encodeFlacSamples(samples: Float32Array | Int16Array, sampleRate: number): Buffer {
  const chunks: Buffer[] = [];
  const patches: { offsetBytes: number; bytes: Buffer }[] = [];
  using encoder = new FlacEncoder(sampleRate, {
    write: (bytes) => void chunks.push(Buffer.from(bytes)),
    patch: (offsetBytes, bytes) => void patches.push({ offsetBytes, bytes: Buffer.from(bytes) }),
  });
  if (samples instanceof Float32Array) encoder.write(samples, samples.length);
  else encoder.writePcm16(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
  encoder.finish();
  const file = Buffer.concat(chunks);
  for (const { offsetBytes, bytes } of patches) file.set(bytes, offsetBytes);
  return file;
}
