import { createHash } from 'node:crypto';
import type { CodecContext, FormatContext, Stream } from 'node-av/lib';
import { AudioError } from './audio-error.js';
import { FlacContexts } from './flac-contexts.js';
import { onlyAudioStream, openContainer, openDecoder } from './open-recording.js';

/** Decoders of recordings that differ in codec, rate, channels or setup. */
const MAX_DECODERS = 16;

/** Where a decoder comes from that remembers nothing of what was decoded before; it holds until the next one is asked for. */
export interface DecoderSupply extends Disposable {
  take(): CodecContext;
}

/** Names what the decoder of a stream is set up by: streams of the same name can share one. */
export function decoderKey({ codecpar, timeBase }: Stream): string {
  const { codecId, sampleRate, extradata, channelLayout, format, bitsPerCodedSample } = codecpar;
  const setup = createHash('sha256')
    .update(extradata ?? '')
    .digest('base64');
  const { nbChannels, order, mask } = channelLayout;
  const layout = `${nbChannels}/${order}/${mask}`;
  return [codecId, codecpar.codecTag, sampleRate, layout, format, bitsPerCodedSample, timeBase.den, setup].join(' ');
}

/** Decoders that stay for the next recording of the same setup: to open a container and a decoder takes as long as to decode a second. */
export class SharedDecoders implements Disposable {
  /** Of FLAC files that are read by the numbers of their frames. */
  readonly flac = new FlacContexts();
  readonly #decoders = new Map<string, CodecContext>();

  /** The decoder of a recording, emptied. */
  take(path: string, key: string): CodecContext {
    const decoder = this.#decoders.get(key) ?? open(path, key);
    this.#decoders.delete(key);
    this.#decoders.set(key, decoder);
    if (this.#decoders.size > MAX_DECODERS) {
      const [oldest] = this.#decoders;
      oldest?.[1].freeContext();
      this.#decoders.delete(oldest?.[0] ?? '');
    }
    decoder.flushBuffers();
    return decoder;
  }

  [Symbol.dispose](): void {
    for (const decoder of this.#decoders.values()) decoder.freeContext();
    this.#decoders.clear();
    this.flac[Symbol.dispose]();
  }
}

function open(path: string, key: string): CodecContext {
  const container = openContainer(path, false, false);
  try {
    const stream = onlyAudioStream(path, container);
    if (decoderKey(stream) === key) return openDecoder(path, stream);
  } finally {
    container.closeInputSync();
  }
  throw new AudioError('corrupt_recording', path, 'it was changed while it was read');
}

/** A decoder of one recording alone. */
export class OwnDecoder implements DecoderSupply {
  readonly #path: string;
  readonly #isRenewed: boolean;
  readonly #container: FormatContext;
  readonly #stream: Stream;
  #decoder: CodecContext;
  /** Whether the decoder was used, so that it is not as it was at first. */
  #isUsed = false;

  /** @param isRenewed where the decoder keeps something of what it decoded even when it is emptied. */
  constructor(path: string, isRenewed: boolean) {
    this.#path = path;
    this.#isRenewed = isRenewed;
    this.#container = openContainer(path, false, false);
    this.#stream = onlyAudioStream(path, this.#container);
    this.#decoder = openDecoder(path, this.#stream);
  }

  take(): CodecContext {
    if (this.#isUsed && this.#isRenewed) {
      this.#decoder.freeContext();
      this.#decoder = openDecoder(this.#path, this.#stream);
    } else this.#decoder.flushBuffers();
    this.#isUsed = true;
    return this.#decoder;
  }

  [Symbol.dispose](): void {
    this.#decoder.freeContext();
    this.#container.closeInputSync();
  }
}
