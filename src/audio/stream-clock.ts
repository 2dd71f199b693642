import { AV_NOPTS_VALUE } from 'node-av/constants';

/**
 * Turns the timestamps of a stream into positions counted in decoded frames.
 *
 * Both begin with the first block. Timestamps may run ahead of the count or fall behind it: they jump where a broadcast
 * was interrupted, and begin anew where another stream was joined. What is decoded knows of no jump.
 */
export class StreamClock {
  /** One tick is this many frames. */
  readonly #numerator: number;
  readonly #denominator: number;
  #firstPts: bigint | undefined;
  /** Ticks by which timestamps run ahead of the count. */
  #aheadTicks = 0n;
  /** Timestamp that the next packet has if it follows on the last one. */
  #nextPts: bigint | undefined;

  constructor(timeBase: { num: number; den: number }, sampleRate: number) {
    this.#numerator = timeBase.num * sampleRate;
    this.#denominator = timeBase.den;
  }

  /** False until the timestamp of the first block is known. */
  get isStarted(): boolean {
    return this.#firstPts !== undefined;
  }

  /** Takes the timestamp of the first block. */
  start(pts: bigint): void {
    this.#firstPts = pts;
    this.#aheadTicks = 0n;
  }

  /** Takes the packets in their order, so that jumps are seen. */
  follow(pts: bigint, duration: bigint): void {
    const expected = this.#nextPts ?? pts;
    if (pts !== AV_NOPTS_VALUE) this.#aheadTicks += pts - expected;
    this.#nextPts = (pts === AV_NOPTS_VALUE ? expected : pts) + duration;
  }

  /** Says that so many ticks of the timestamps hold no audio. */
  leaveOut(ticks: bigint): void {
    this.#aheadTicks += ticks;
  }

  /** The count that a timestamp stands for. */
  positionOf(pts: bigint): number | undefined {
    if (pts === AV_NOPTS_VALUE || this.#firstPts === undefined) return undefined;
    return this.framesOf(pts - this.#firstPts - this.#aheadTicks);
  }

  /** The timestamp of a count, in a stream without jumps. */
  ptsOf(frames: number): bigint {
    const start = this.#firstPts === AV_NOPTS_VALUE ? 0n : (this.#firstPts ?? 0n);
    return start + this.ticksOf(frames);
  }

  framesOf(ticks: bigint): number {
    const denominator = BigInt(this.#denominator);
    return Number((ticks * BigInt(this.#numerator) + denominator / 2n) / denominator);
  }

  ticksOf(frames: number): bigint {
    return (BigInt(frames) * BigInt(this.#denominator)) / BigInt(this.#numerator);
  }
}
