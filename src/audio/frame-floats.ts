import type { Frame } from 'node-av/lib';

/** A view of the samples of a mono float frame; it holds as long as the frame keeps its buffer. */
export function floatsOf(frame: Frame, count: number): Float32Array<ArrayBuffer> {
  const plane = frame.data?.[0];
  if (plane === undefined) throw new Error('A frame of the codec library has no buffer');
  return new Float32Array(plane.buffer as ArrayBuffer, plane.byteOffset, count);
}
