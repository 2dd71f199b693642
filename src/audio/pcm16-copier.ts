import { AV_SAMPLE_FMT_S16 } from 'node-av/constants';
import { Frame, SoftwareResampleContext } from 'node-av/lib';
import { codecMessage } from './audio-error.js';
import { MONO } from './channel-mix.js';

/** Frames of a block that the room is made for at first. */
const BLOCK_FRAMES = 8192;

/** Copies decoded mono blocks of 16 bits as they are: asking for a block's own bytes costs twice as much. */
export class Pcm16Copier implements Disposable {
  readonly #output = new Frame();
  /** By rate. */
  readonly #copiers = new Map<number, SoftwareResampleContext>();
  #bytes: Buffer = Buffer.alloc(0);

  constructor() {
    this.#output.alloc();
  }

  /**
   * Copies the frames of a block to a place, which has room for them.
   *
   * @returns false where the block is another than it should be.
   */
  copy(block: Frame, sampleRate: number, frames: number, into: Int16Array, at: number): boolean {
    this.#reserve(frames);
    const output = this.#output;
    output.sampleRate = sampleRate;
    output.nbSamples = this.#bytes.length / Int16Array.BYTES_PER_ELEMENT;
    const result = this.#copierOf(sampleRate).convertFrame(output, block);
    if (result < 0 || output.nbSamples !== frames) return false;
    const { buffer, byteOffset } = this.#bytes;
    into.set(new Int16Array(buffer, byteOffset, frames), at);
    return true;
  }

  [Symbol.dispose](): void {
    for (const copier of this.#copiers.values()) copier.free();
    this.#copiers.clear();
    this.#output.free();
  }

  #reserve(frames: number): void {
    if (frames * Int16Array.BYTES_PER_ELEMENT <= this.#bytes.length) return;
    const capacity = Math.max(BLOCK_FRAMES, frames);
    const output = this.#output;
    output.unref();
    output.format = AV_SAMPLE_FMT_S16;
    output.channelLayout = MONO;
    output.nbSamples = capacity;
    check(output.getBuffer(0));
    const plane = output.data?.[0];
    if (plane === undefined) throw new Error('A frame of the codec library has no buffer');
    this.#bytes = plane.subarray(0, capacity * Int16Array.BYTES_PER_ELEMENT);
  }

  #copierOf(sampleRate: number): SoftwareResampleContext {
    const known = this.#copiers.get(sampleRate);
    if (known !== undefined) return known;
    const copier = new SoftwareResampleContext();
    check(copier.allocSetOpts2(MONO, AV_SAMPLE_FMT_S16, sampleRate, MONO, AV_SAMPLE_FMT_S16, sampleRate));
    check(copier.init());
    this.#copiers.set(sampleRate, copier);
    return copier;
  }
}

function check(result: number): void {
  if (result < 0) throw new Error(`16-bit samples could not be copied: ${codecMessage(result)}`);
}
