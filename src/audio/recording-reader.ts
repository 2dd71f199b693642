import { accessSync, constants as fsConstants, statSync } from 'node:fs';
import {
  AV_DISPOSITION_ATTACHED_PIC,
  AV_LOG_QUIET,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_VIDEO,
  AV_NOPTS_VALUE,
  AV_PKT_DATA_ENCRYPTION_INFO,
  AVSEEK_FLAG_BACKWARD,
} from 'node-av/constants';
import { Codec, CodecContext, Dictionary, FormatContext, Frame, Log, Packet } from 'node-av/lib';
import type { Stream } from 'node-av/lib';
import { systemCode } from '../errors.js';
import { AudioError, codecMessage } from './audio-error.js';
import { readWavHeader } from './wav-header.js';

/** Containers that hold audio by themselves. Playlists, image sequences and devices are left out on purpose. */
const CONTAINERS =
  'wav,w64,flac,mp3,ogg,mov,matroska,aac,aiff,au,caf,wv,amr,ac3,eac3,ape,tta,asf,avi,mpegts,mpeg,flv,dsf,iff,voc,' +
  'nistsphere,sox,tak,mpc';

/** The WAV demuxer's own packets are so small that the calls for each would cost more than the audio. */
const WAV_PACKET_BYTES = 1 << 14;

/** Skips shorter than this are decoded: a seek costs about as much. */
const SKIP_AT_LEAST_SECONDS = 5;

/**
 * How unneeded audio is passed over, by container and codec; anything else is decoded from the start to its end.
 *
 * `seek`: the container knows the place of every sample. `packets`: packets are read but not decoded, and decoding
 * begins early enough that the decoder's memory of what it missed has faded below a 16-bit step.
 */
function skipMethod(container: string, codec: string): { by: 'seek' | 'packets'; prerollSeconds: number } | undefined {
  if (container === 'flac' && codec === 'flac') return { by: 'seek', prerollSeconds: 0 };
  if ((container === 'wav' || container === 'w64') && codec.startsWith('pcm_'))
    return { by: 'seek', prerollSeconds: 0 };
  if (container === 'mp3' && codec.startsWith('mp3')) return { by: 'packets', prerollSeconds: 1 };
  if (container === 'ogg' && codec === 'opus') return { by: 'packets', prerollSeconds: 2 };
  return undefined;
}

/** What is known of a recording before its audio is decoded. */
export interface RecordingInfo {
  /** Hz. */
  sampleRate: number;
  channels: number;
  container: string;
  codec: string;
}

/**
 * A recording, decoded block by block in the order of time.
 *
 * Positions are counted in decoded frames (one sample of every channel) from the first one on, after the encoder's
 * delay that the format declares (gapless MP3, Opus pre-skip) is taken off. All calls block: use it in a process of
 * its own.
 */
export class RecordingReader implements Disposable {
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

  readonly #container: FormatContext;
  readonly #stream: Stream;
  readonly #decoder: CodecContext;
  readonly #packet: Packet;
  readonly #skip: ReturnType<typeof skipMethod>;
  readonly #wavShortfall: string | undefined;
  /** Where the audio ends although the file goes on. */
  readonly #limitFrames: number;
  /** One tick of the stream's clock is this many frames. */
  readonly #framesPerTick: { numerator: number; denominator: number };
  #packetCount = 0;
  #isEncrypted = false;
  #firstPts: bigint | undefined;
  #isDraining = false;
  /** The packet was read, and the decoder wants its blocks fetched before it takes it. */
  #isPacketHeld = false;
  /** After a skip the position is read from the next block's timestamp. */
  #isPositionUnknown = false;
  /** What the decoder refused, until it is known whether audio follows it. */
  #refusal: string | undefined;

  /** @throws AudioError when there is no audio to be had, with the reason. */
  constructor(path: string) {
    Log.setLevel(AV_LOG_QUIET);
    this.path = path;
    checkFile(path);
    const wav = readWavHeader(path);
    if (wav?.channels === 0) throw new AudioError('not_audio', path, 'its header says 0 channels');
    if (wav?.declaredBytes !== undefined && wav.declaredBytes > wav.availableBytes) {
      this.#wavShortfall = `its header says ${wav.declaredBytes} bytes of audio, the file holds ${wav.availableBytes}`;
    }
    const isUnknownLength = wav !== undefined && wav.declaredBytes === undefined;
    this.#limitFrames = isUnknownLength ? Math.floor(wav.availableBytes / wav.bytesPerFrame) : Infinity;
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
    const { num, den } = this.#stream.timeBase;
    this.#framesPerTick = { numerator: num * sampleRate, denominator: den };
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
        this.#place();
        return this.blockFrames > 0;
      }
      if (result === AVERROR_EOF) return this.#endOfAudio();
      if (result !== AVERROR_EAGAIN) this.#refusal ??= codecMessage(result);
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
    if (this.#skip === undefined || this.#firstPts === undefined || this.#isDraining) return;
    const target = to - this.#skip.prerollSeconds * sampleRate;
    if (target - from < SKIP_AT_LEAST_SECONDS * sampleRate || target <= this.position) return;
    if (this.#skip.by === 'packets') this.#skipPackets(target);
    else this.#seek(target);
  }

  /** Says so when the audio ended before what the header promises; to be asked once `next` has answered false. */
  shortfall(): string | undefined {
    if (this.#wavShortfall !== undefined) return this.#wavShortfall;
    const { container, sampleRate } = this.info;
    if (container === 'flac' && this.#stream.duration > 0n) {
      const declaredFrames = this.#framesOf(this.#stream.duration);
      if (this.position < declaredFrames) {
        return `its header says ${declaredFrames} frames, the audio ends at ${this.position} (${(this.position / sampleRate).toFixed(3)} s)`;
      }
    }
    const declaredPackets = Number(this.#stream.nbFrames);
    if (container === 'mov' && this.#packetCount < declaredPackets) {
      return `its index says ${declaredPackets} packets, the audio ends after ${this.#packetCount}`;
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
    this.#packet.unref();
    if (result < 0) this.#refusal ??= codecMessage(result);
  }

  /** A decoder that refused everything did not meet the end of the audio. */
  #endOfAudio(): false {
    if (this.position > 0 || this.#refusal === undefined) return false;
    if (this.#isEncrypted) throw new AudioError('encrypted', this.path, 'its audio is encrypted');
    throw new AudioError('corrupt_recording', this.path, `nothing in it can be decoded (${this.#refusal})`);
  }

  /** Reads the next packet of the stream; false at the end of the file. */
  #readPacket(): boolean {
    for (;;) {
      const result = this.#container.readFrameSync(this.#packet);
      if (result === AVERROR_EOF) return false;
      if (result < 0) {
        const at = (this.position / this.info.sampleRate).toFixed(3);
        throw new AudioError('corrupt_recording', this.path, `${codecMessage(result)}, after ${at} s of audio`);
      }
      if (this.#packet.streamIndex === this.#stream.index) {
        if (this.#packetCount === 0) {
          this.#isEncrypted = this.#packet.getSideData(AV_PKT_DATA_ENCRYPTION_INFO) !== null;
        }
        this.#packetCount += 1;
        return true;
      }
      this.#packet.unref();
    }
  }

  /**
   * Junk before the first and after the last block is harmless, and so is what a decoder refuses for want of the
   * packets that a skip passed over; junk between two blocks means that audio is lost.
   */
  #refuseLoss(): void {
    if (this.#refusal === undefined) return;
    if (this.position > 0 && !this.#isPositionUnknown) {
      const at = (this.position / this.info.sampleRate).toFixed(3);
      throw new AudioError('corrupt_recording', this.path, `damaged at ${at} s of audio (${this.#refusal})`);
    }
    this.#refusal = undefined;
  }

  #place(): void {
    this.#firstPts ??= this.block.pts;
    if (this.#isPositionUnknown) {
      this.position = this.#framesOf(this.block.pts - this.#firstPts);
      this.#isPositionUnknown = false;
    }
    this.blockStart = this.position;
    this.blockFrames = this.block.nbSamples;
    if (this.position + this.blockFrames > this.#limitFrames) {
      this.blockFrames = Math.max(0, this.#limitFrames - this.position);
      this.block.nbSamples = this.blockFrames;
    }
    this.position += this.blockFrames;
  }

  #framesOf(ticks: bigint): number {
    const { numerator, denominator } = this.#framesPerTick;
    return Number((ticks * BigInt(numerator) + BigInt(denominator >> 1)) / BigInt(denominator));
  }

  #ticksOf(frames: number): bigint {
    const { numerator, denominator } = this.#framesPerTick;
    return (BigInt(frames) * BigInt(denominator)) / BigInt(numerator);
  }

  #seek(target: number): void {
    const start = this.#firstPts === AV_NOPTS_VALUE ? 0n : (this.#firstPts ?? 0n);
    const result = this.#container.seekFrameSync(
      this.#stream.index,
      start + this.#ticksOf(target),
      AVSEEK_FLAG_BACKWARD,
    );
    if (result < 0) return;
    this.#dropPacket();
    this.#decoder.flushBuffers();
    this.#isPositionUnknown = true;
  }

  #dropPacket(): void {
    if (this.#isPacketHeld) this.#packet.unref();
    this.#isPacketHeld = false;
  }

  /** Reads packets up to the one that holds `target` and decodes none of them. */
  #skipPackets(target: number): void {
    const last = (this.#firstPts ?? 0n) + this.#ticksOf(target);
    this.#dropPacket();
    this.#decoder.flushBuffers();
    this.#isPositionUnknown = true;
    while (this.#readPacket()) {
      const end = this.#packet.pts + this.#packet.duration;
      if (end >= last) {
        this.#send();
        return;
      }
      this.position = this.#framesOf(end - (this.#firstPts ?? 0n));
      this.#packet.unref();
    }
    this.#isDraining = true;
    this.#decoder.sendPacketSync(null);
  }
}

function checkFile(path: string): void {
  try {
    const facts = statSync(path);
    if (!facts.isFile()) throw new AudioError('unreadable_recording', path, 'it is not a regular file');
    if (facts.size === 0) throw new AudioError('empty_recording', path, 'the file is empty');
    accessSync(path, fsConstants.R_OK);
  } catch (error) {
    if (error instanceof AudioError) throw error;
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new AudioError('missing_recording', path, 'there is no such file', { cause: error });
    }
    throw new AudioError('unreadable_recording', path, code ?? String(error), { cause: error });
  }
}

/** Opens local files alone: a path is never taken for an address, a playlist or a device. */
function openContainer(path: string, isWav: boolean, isLengthUnknown: boolean): FormatContext {
  const container = new FormatContext();
  container.allocContext();
  const options = Dictionary.fromObject({
    protocol_whitelist: 'file',
    format_whitelist: CONTAINERS,
    ...(isWav ? { max_size: WAV_PACKET_BYTES, ignore_length: isLengthUnknown ? 1 : 0 } : {}),
  });
  const opened = container.openInputSync(`file:${path}`, null, options);
  options.free();
  if (opened < 0)
    throw new AudioError('not_audio', path, `not an audio file that can be decoded (${codecMessage(opened)})`);
  const probed = container.findStreamInfoSync();
  if (probed < 0) {
    container.closeInputSync();
    throw new AudioError('not_audio', path, `no stream could be identified (${codecMessage(probed)})`);
  }
  return container;
}

function onlyAudioStream(path: string, container: FormatContext): Stream {
  const { streams } = container;
  const audio = streams.filter((stream) => stream.codecpar.codecType === AVMEDIA_TYPE_AUDIO);
  const [only] = audio;
  if (only === undefined) throw new AudioError('not_audio', path, 'it holds no audio stream');
  const hint = 'Extract the audio stream that the transcript belongs to into a file of its own.';
  if (audio.length > 1) {
    throw new AudioError('ambiguous_streams', path, `it holds ${audio.length} audio streams`, { hint });
  }
  const isPicture = (stream: Stream): boolean => (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) !== 0;
  if (streams.some((stream) => stream.codecpar.codecType === AVMEDIA_TYPE_VIDEO && !isPicture(stream))) {
    throw new AudioError('ambiguous_streams', path, 'it is a video with an audio track', { hint });
  }
  return only;
}

function openDecoder(path: string, stream: Stream): CodecContext {
  const { codecpar } = stream;
  if (codecpar.codecTagString === 'enca') throw new AudioError('encrypted', path, 'its audio is encrypted');
  const codec = Codec.findDecoder(codecpar.codecId);
  if (codec === null) throw new AudioError('not_audio', path, 'there is no decoder for its audio');
  const decoder = new CodecContext();
  decoder.allocContext3(codec);
  decoder.parametersToContext(codecpar);
  decoder.pktTimebase = stream.timeBase;
  decoder.threadCount = 1;
  const opened = decoder.open2Sync(codec);
  if (opened < 0 || decoder.sampleRate <= 0 || decoder.channels <= 0) {
    const state = opened < 0 ? codecMessage(opened) : 'its header gives no rate or channels';
    decoder.freeContext();
    throw new AudioError('not_audio', path, state);
  }
  return decoder;
}
