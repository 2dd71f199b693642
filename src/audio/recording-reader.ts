import {
  AVERROR_EAGAIN,
  AVERROR_EOF,
  AVERROR_PATCHWELCOME,
  AV_PKT_DATA_ENCRYPTION_INFO,
  AV_PKT_DATA_SKIP_SAMPLES,
  AVSEEK_FLAG_BACKWARD,
} from 'node-av/constants';
import { Codec, Frame, Packet } from 'node-av/lib';
import type { CodecContext, FormatContext, Stream } from 'node-av/lib';
import { AudioError, codecMessage } from './audio-error.js';
import { readOnePageFrames } from './one-page-vorbis.js';
import type { BlockReader } from './block-reader.js';
import { checkFile, onlyAudioStream, openContainer, openDecoder } from './open-recording.js';
import { decoderKey } from './packet-decoders.js';
import { isSpeechOpus, isXingFrame } from './packet-kinds.js';
import type { RecordingInfo } from './recording-info.js';
import { SKIP_AT_LEAST_SECONDS, skipMethod } from './skip-method.js';
import type { SkipMethod } from './skip-method.js';
import { StreamClock } from './stream-clock.js';
import { readWavHeader, wavFrames, wavShortfall } from './wav-header.js';

/** Tags behind the audio, and a last packet that was cut off, may look like so many packets. */
const TRAILING_JUNK_PACKETS = 3;

/** Where the block that follows a skip must start, both included; anywhere else its timestamp is wrong. */
interface Landing {
  earliest: number;
  latest: number;
}

export type { RecordingInfo };

/**
 * A recording, decoded block by block in the order of time.
 *
 * Positions are counted in decoded frames (one sample of every channel) from the first one on, after the encoder's
 * delay that the format declares (gapless MP3, Opus pre-skip) is taken off. All calls block: use it in a process of
 * its own.
 */
export class RecordingReader implements BlockReader {
  readonly path: string;
  readonly info: RecordingInfo;
  /** The current block of audio in the decoder's own format; valid until the next call of `next`. */
  readonly block: Frame;
  /** Position of the first frame of `block`. */
  blockStart = 0;
  /** How many frames `block` holds; asking the codec library each time would cost more than counting. */
  blockFrames = 0;
  /** Position after the last frame decoded; the length of the recording once `next` has answered false. */
  position = 0;
  /** How many packets were read. */
  packetCount = 0;

  readonly #container: FormatContext;
  readonly #stream: Stream;
  readonly #decoder: CodecContext;
  readonly #packet: Packet;
  /** Undefined where audio cannot be passed over, or once the file turned out not to allow it. */
  #skip: SkipMethod | undefined;
  readonly #wavShortfall: string | undefined;
  /** Where the audio ends although the file goes on. */
  readonly #limitFrames: number;
  /** The limit is that of a page alone, and what packets say of it is wrong. */
  readonly #isOnePage: boolean;
  /** The length that the file promises; a seek that passes it lands nowhere. */
  readonly #promisedFrames: number;
  readonly #clock: StreamClock;
  #isEncrypted = false;
  #isDraining = false;
  /** The packet was read, and the decoder wants its blocks fetched before it takes it. */
  #isPacketHeld = false;
  /** Set from a skip until its first block. */
  #landing: Landing | undefined;
  /** The frame that the last skip was to reach. */
  #skippedTo = -1;
  #hasSought = false;
  /** What the decoder refused, until it is known whether audio follows it. */
  #refusal: string | undefined;
  #refusedPackets = 0;

  /** @throws AudioError when there is no audio to be had, with the reason. */
  constructor(path: string) {
    this.path = path;
    checkFile(path);
    const wav = readWavHeader(path);
    if (wav?.channels === 0) throw new AudioError('not_audio', path, 'its header says 0 channels');
    this.#wavShortfall = wav === undefined ? undefined : wavShortfall(wav);
    const isUnknownLength = wav !== undefined && wav.declaredBytes === undefined;
    this.#container = openContainer(path, wav !== undefined, isUnknownLength);
    try {
      this.#stream = onlyAudioStream(path, this.#container);
      this.#decoder = openDecoder(path, this.#stream);
    } catch (error) {
      this.#container.closeInputSync();
      throw error;
    }
    this.#packet = new Packet();
    this.#packet.alloc();
    this.block = new Frame();
    this.block.alloc();
    const { sampleRate, channels } = this.#decoder;
    const container = this.#container.iformat?.name?.split(',')[0] ?? '';
    const codec = Codec.findDecoder(this.#decoder.codecId)?.name ?? '';
    this.info = { sampleRate, channels, container, codec };
    this.#skip = skipMethod(container, codec);
    this.#clock = new StreamClock(this.#stream.timeBase, sampleRate);
    const pcm = codec.startsWith('pcm_') ? wav : undefined;
    const heldFrames = pcm === undefined ? Infinity : wavFrames(pcm);
    const onePageFrames = container === 'ogg' && codec === 'vorbis' ? readOnePageFrames(path) : undefined;
    this.#isOnePage = onePageFrames !== undefined;
    this.#limitFrames = onePageFrames ?? (isUnknownLength ? heldFrames : Infinity);
    const { duration } = this.#stream;
    this.#promisedFrames = pcm === undefined && duration > 0n ? this.#clock.framesOf(duration) : heldFrames;
  }

  /** Names what the decoder is set up by. */
  get decoderKey(): string {
    return decoderKey(this.#stream);
  }

  /**
   * Decodes the next block of audio into `block`.
   *
   * @returns false at the end of the audio.
   * @throws AudioError where audio is lost: the file cannot be read on, or the decoder refuses a part that more audio follows.
   */
  next(): boolean {
    for (;;) {
      // A packet mostly gives one block: feeding first spares asking for a second one in vain.
      this.#feed();
      const result = this.#decoder.receiveFrameSync(this.block);
      if (result >= 0) {
        this.#refuseLoss();
        if (!this.#place()) continue;
        return this.blockFrames > 0;
      }
      if (result === AVERROR_EOF) {
        // After a seek there must be audio; packets at the end may be there to be cut off.
        if (this.#landing === undefined || this.#skip?.by === 'packets') return this.#endOfAudio();
        this.#distrustSkip();
        continue;
      }
      if (result !== AVERROR_EAGAIN) this.#noteRefusal(result);
    }
  }

  /**
   * Passes over audio that is not needed, where the format allows it without losing exactness: `next` goes on at a
   * block that starts at `to` or before it. Does nothing where it would not be exact or not worth it.
   *
   * @param from the frame up to which everything was needed, at or before `position`: whether the way to `to` is skipped
   *   hangs on these two alone, not on where the blocks happen to end.
   */
  skip(from: number, to: number): void {
    const { sampleRate } = this.info;
    if (this.#skip === undefined || !this.#clock.isStarted || this.#isDraining) return;
    const target = to - this.#skip.prerollSeconds * sampleRate;
    if (target - from < SKIP_AT_LEAST_SECONDS * sampleRate || target <= this.position) return;
    if (this.#skip.by === 'packets') {
      this.#skipPackets(target, to);
      return;
    }
    // Once a target: a seek that did not get there would not the next time either.
    if (this.#skippedTo === to) return;
    this.#skippedTo = to;
    const within = Math.min(target, this.#promisedFrames - 1);
    if (within > this.position) this.#seek(within);
  }

  /**
   * Goes to the block that holds `target`, or to one before it, forwards or back.
   *
   * @returns false where the container does not know the place of every sample, or nothing was decoded yet: nothing is done then.
   */
  jump(target: number): boolean {
    if (this.#skip?.by !== 'seek' || !this.#clock.isStarted) return false;
    const within = Math.max(0, Math.min(target, this.#promisedFrames - 1));
    this.#refusal = undefined;
    this.#refusedPackets = 0;
    if (this.#seekTo(within)) this.#landing = { earliest: 0, latest: within };
    else this.#distrustSkip();
    return true;
  }

  /**
   * Reads on, decodes nothing and shows each packet, which holds until the next one. To be called behind the first block.
   *
   * @param most packets that are read.
   * @param visit is given the packet, where its audio begins by the timestamps, and for how many frames it lasts.
   * @returns whether there may be more.
   */
  visitPackets(most: number, visit: (packet: Packet, startFrame: number | undefined, frames: number) => void): boolean {
    if (this.#isPacketHeld) throw new TypeError('A packet was read that is not decoded yet');
    for (let count = 0; count < most; count += 1) {
      if (!this.#readPacket()) {
        this.#isDraining = true;
        return false;
      }
      const { pts, duration } = this.#packet;
      visit(this.#packet, this.#clock.positionOf(pts), this.#clock.framesOf(duration));
      this.#packet.unref();
    }
    return true;
  }

  /** Says so when the audio ended before what the header promises; to be asked once `next` has answered false. */
  shortfall(): string | undefined {
    if (this.#wavShortfall !== undefined) return this.#wavShortfall;
    const { container, sampleRate } = this.info;
    if (container === 'flac' && this.#stream.duration > 0n) {
      const declaredFrames = this.#clock.framesOf(this.#stream.duration);
      if (this.position < declaredFrames) {
        return `its header says ${declaredFrames} frames, the audio ends at ${this.position} (${(this.position / sampleRate).toFixed(3)} s)`;
      }
    }
    const declaredPackets = Number(this.#stream.nbFrames);
    // An index of PCM counts frames, of which a packet holds many: then the length alone tells.
    if (container === 'mov' && this.packetCount < declaredPackets && this.position < this.#promisedFrames) {
      return `its index says ${declaredPackets} packets, the audio ends after ${this.packetCount}`;
    }
    return undefined;
  }

  [Symbol.dispose](): void {
    this.block.free();
    this.#packet.free();
    this.#decoder.freeContext();
    this.#container.closeInputSync();
  }

  /** Hands one packet to the decoder, if it takes one, or tells it that the audio has ended. */
  #feed(): void {
    if (this.#isDraining) return;
    if (!this.#isPacketHeld && !this.#readPacket()) {
      this.#isDraining = true;
      this.#decoder.sendPacketSync(null);
      return;
    }
    this.#send();
  }

  #send(): void {
    const result = this.#decoder.sendPacketSync(this.#packet);
    this.#isPacketHeld = result === AVERROR_EAGAIN;
    if (this.#isPacketHeld) return;
    if (result < 0) {
      // The description of an MP3 that was joined to another holds no audio.
      if (isXingFrame(this.#packet.data)) this.#clock.leaveOut(this.#packet.duration);
      else this.#noteRefusal(result);
    }
    this.#packet.unref();
  }

  #noteRefusal(result: number): void {
    this.#refusal ??= codecMessage(result);
    this.#refusedPackets += 1;
  }

  /** A decoder that refused everything, or all from some point on, did not meet the end of the audio. */
  #endOfAudio(): false {
    if (this.#refusal === undefined) return false;
    if (this.position > 0 && this.#refusedPackets <= TRAILING_JUNK_PACKETS) return false;
    if (this.#isEncrypted) throw new AudioError('encrypted', this.path, 'its audio is encrypted');
    const where =
      this.position === 0 ? 'in it' : `after ${(this.position / this.info.sampleRate).toFixed(3)} s of audio`;
    throw new AudioError('corrupt_recording', this.path, `nothing ${where} can be decoded (${this.#refusal})`);
  }

  /** Reads the next packet of the stream; false at the end of the file. */
  #readPacket(): boolean {
    for (;;) {
      const result = this.#container.readFrameSync(this.#packet);
      if (result === AVERROR_EOF) return false;
      if (result < 0) {
        const at = `after ${(this.position / this.info.sampleRate).toFixed(3)} s of audio`;
        // What the Ogg demuxer answers where a joined stream has other parameters.
        if (result === AVERROR_PATCHWELCOME) {
          throw new AudioError('format_changes', this.path, `its rate, channels or codec change ${at}`);
        }
        throw new AudioError('corrupt_recording', this.path, `${codecMessage(result)}, ${at}`);
      }
      if (this.#packet.streamIndex === this.#stream.index) {
        if (this.packetCount === 0) {
          this.#isEncrypted = this.#packet.getSideData(AV_PKT_DATA_ENCRYPTION_INFO) !== null;
        }
        this.packetCount += 1;
        if (this.#isOnePage) this.#packet.freeSideData();
        if (this.#skip?.by === 'packets') this.#followTimestamps();
        return true;
      }
      this.#packet.unref();
    }
  }

  /**
   * Junk before the first block is harmless, a little of it after the last one, and so is what a decoder refuses for want of the
   * packets that a skip passed over; junk between two blocks means that audio is lost.
   */
  #refuseLoss(): void {
    if (this.#refusal === undefined) return;
    if (this.position > 0 && this.#landing === undefined) {
      const at = (this.position / this.info.sampleRate).toFixed(3);
      throw new AudioError('corrupt_recording', this.path, `damaged at ${at} s of audio (${this.#refusal})`);
    }
    this.#refusal = undefined;
    this.#refusedPackets = 0;
  }

  /** Finds where the block lies; false when it is to be passed over because decoding begins anew. */
  #place(): boolean {
    if (!this.#clock.isStarted) this.#clock.start(this.block.pts);
    if (this.#landing !== undefined && !this.#land(this.#landing)) return false;
    if (this.#skip?.by === 'seek') this.#checkNumbering();
    this.blockStart = this.position;
    this.blockFrames = this.block.nbSamples;
    if (this.position + this.blockFrames > this.#limitFrames) {
      this.blockFrames = Math.max(0, this.#limitFrames - this.position);
      this.block.nbSamples = this.blockFrames;
    }
    this.position += this.blockFrames;
    return true;
  }

  #land({ earliest, latest }: Landing): boolean {
    const position = this.#clock.positionOf(this.block.pts) ?? -1;
    if (position < earliest || position > latest) {
      this.#distrustSkip();
      return false;
    }
    this.#landing = undefined;
    this.position = position;
    return true;
  }

  /** Decodes from the start on, without skips, after one that led elsewhere than it should. */
  #distrustSkip(): void {
    const isSeek = this.#skip?.by === 'seek';
    this.#skip = undefined;
    if (!isSeek || !this.#seekTo(0)) this.#refuseNumbering('are not numbered in the order of time');
    this.position = 0;
    this.#landing = { earliest: 0, latest: 0 };
  }

  /**
   * A block numbered further than it is counted tells that some are missing. One numbered less begins another file that
   * was joined to the first: that cannot be sought by number, so counting goes on, unless it is too late for that.
   */
  #checkNumbering(): void {
    const aheadFrames = (this.#clock.positionOf(this.block.pts) ?? this.position) - this.position;
    if (aheadFrames === 0) return;
    if (aheadFrames > 0 || this.#hasSought) {
      this.#refuseNumbering('jump in their numbering: some are missing, or files were joined');
    }
    this.#skip = undefined;
  }

  #refuseNumbering(state: string): never {
    const at = (this.position / this.info.sampleRate).toFixed(3);
    throw new AudioError('corrupt_recording', this.path, `its frames ${state}, at ${at} s of audio`, {
      hint: 'Decode and encode it anew.',
    });
  }

  /** Goes on at the block that holds `target`. */
  #seek(target: number): void {
    const earliest = this.position;
    if (this.#seekTo(target)) this.#landing = { earliest, latest: target };
    else this.#distrustSkip();
  }

  #seekTo(target: number): boolean {
    const pts = this.#clock.ptsOf(target);
    const result = this.#container.seekFrameSync(this.#stream.index, pts, AVSEEK_FLAG_BACKWARD);
    this.#dropPacket();
    this.#decoder.flushBuffers();
    this.#isDraining = false;
    this.#hasSought = true;
    return result >= 0;
  }

  #dropPacket(): void {
    if (this.#isPacketHeld) this.#packet.unref();
    this.#isPacketHeld = false;
  }

  /** Reads packets up to the one that holds `target`, or that must be decoded, and decodes none of those before it. */
  #skipPackets(target: number, latest: number): void {
    const earliest = this.position;
    let isFlushed = false;
    while (this.#isPacketHeld || this.#readPacket()) {
      this.#isPacketHeld = true;
      const end = this.#clock.positionOf(this.#packet.pts + this.#packet.duration) ?? Infinity;
      if (end > target || this.#mustDecode()) {
        if (isFlushed) this.#landing = { earliest, latest };
        return;
      }
      if (!isFlushed) this.#decoder.flushBuffers();
      isFlushed = true;
      this.position = end;
      this.#dropPacket();
    }
    this.#isDraining = true;
    this.#decoder.sendPacketSync(null);
  }

  /**
   * Where samples are to be cut off, or the decoder may refuse, only decoding tells how many there are. Speech in Opus
   * (SILK) remembers tones for many seconds, but begins anew behind packets of the other kind.
   */
  #mustDecode(): boolean {
    const packet = this.#packet;
    if (packet.getSideData(AV_PKT_DATA_SKIP_SAMPLES) !== null) return true;
    return this.info.codec === 'opus' ? isSpeechOpus(packet.data) : isXingFrame(packet.data);
  }

  #followTimestamps(): void {
    this.#clock.follow(this.#packet.pts, this.#packet.duration);
    if (this.info.codec !== 'opus' || !this.#clock.isStarted) return;
    // A stream that is joined to another begins with samples of the encoder's own.
    const cut = this.#packet.getSideData(AV_PKT_DATA_SKIP_SAMPLES)?.readUInt32LE(0) ?? 0;
    if (cut > 0) this.#clock.leaveOut(this.#clock.ticksOf(cut));
  }
}
