import { CutroomError, InputError, UsageError } from '../errors.js';
import type { DecodeOutcome, DecodeRequest, DivideRoom, UtteranceDecoder } from './decode-request.js';
import type { DescribedAudio } from './described-item.js';
import type { ExcerptDataset, LoadedExcerpt } from './sources.js';

/** What is wanted of an item. */
export interface AudioRequest {
  audio: DescribedAudio;
  /** 1 for excerpts. */
  speed: number;
}

/** As `DecodeOutcome`; of an excerpt with what its dataset says of it: fields of a row, or the path of what could not be read. */
export type AudioOutcome =
  | (Extract<DecodeOutcome, { kind: 'decoded' }> & { facts?: Readonly<Record<string, unknown>> })
  | (Extract<DecodeOutcome, { kind: 'failed' }> & { path?: string | undefined });

/** Gets the audio of items: from the decoder, or from the datasets that excerpts come from. */
export class AudioReader {
  readonly #decoder: UtteranceDecoder;
  readonly #sampleRate: number | null;
  readonly #wantsBytes: boolean;

  constructor(decoder: UtteranceDecoder, sampleRate: number | null, wantsBytes: boolean) {
    this.#decoder = decoder;
    this.#sampleRate = sampleRate;
    this.#wantsBytes = wantsBytes;
  }

  /**
   * In the order of the requests.
   *
   * @param divide places for the samples of each, which some of them may be put in
   * @throws the signal's reason.
   * @throws UsageError when a dataset gives excerpts of another rate.
   */
  async read(requests: readonly AudioRequest[], signal: AbortSignal, divide?: DivideRoom): Promise<AudioOutcome[]> {
    const encoded: DecodeRequest[] = [];
    const slots: number[] = [];
    const excerpts: Promise<void>[] = [];
    const outcomes = Array.from<AudioOutcome | undefined>({ length: requests.length });
    for (const [slot, { audio, speed }] of requests.entries()) {
      if (audio.kind === 'failed') outcomes[slot] = audio;
      else if (audio.kind === 'encoded') {
        slots.push(slot);
        encoded.push({ ...audio.place, sampleRate: this.#sampleRate, speed, wantsBytes: this.#wantsBytes });
      } else {
        const { dataset, index } = audio;
        excerpts.push(
          this.#readExcerpt(dataset, index).then((outcome) => {
            outcomes[slot] = outcome;
          }),
        );
      }
    }
    const divideEncoded = (): Float32Array<ArrayBuffer>[] => {
      const places = divide?.() ?? [];
      return slots.flatMap((slot) => places[slot] ?? []);
    };
    // All settle before anything is thrown, so that nothing goes on behind the caller's back.
    const [decoded, ...settled] = await Promise.allSettled([
      encoded.length === 0 ? [] : this.#decoder.decode(encoded, signal, divide && divideEncoded),
      ...excerpts,
    ]);
    signal.throwIfAborted();
    for (const result of [decoded, ...settled]) if (result.status === 'rejected') throw result.reason;
    if (decoded.status === 'fulfilled') for (const [at, slot] of slots.entries()) outcomes[slot] = decoded.value[at];
    return outcomes.map((outcome) => {
      if (outcome === undefined) throw new Error('The decoder gave fewer outcomes than it was asked for');
      return outcome;
    });
  }

  /** Takes back the samples of outcomes that nobody looks at any more. */
  recycle(outcomes: readonly AudioOutcome[]): void {
    this.#decoder.recycle?.(outcomes);
  }

  recycleBytes(bytes: readonly (Uint8Array | undefined)[]): void {
    this.#decoder.recycleBytes?.(bytes);
  }

  async #readExcerpt(dataset: ExcerptDataset, index: number): Promise<AudioOutcome> {
    let excerpt: LoadedExcerpt | undefined;
    try {
      excerpt = await dataset.get(index);
    } catch (error) {
      if (!(error instanceof CutroomError) || error.code !== 'input') throw error;
      const path = error instanceof InputError ? error.path : undefined;
      return { kind: 'failed', reason: reasonOf(error), message: error.message, hint: error.hint, path };
    }
    if (excerpt === undefined) {
      return { kind: 'failed', reason: 'passed_over', message: 'the dataset passes it over', hint: undefined };
    }
    if (this.#sampleRate !== null && excerpt.sampleRate !== this.#sampleRate) {
      throw new UsageError(`Excerpts of ${excerpt.sampleRate} Hz do not go into batches of ${this.#sampleRate} Hz`, {
        hint: `Make the dataset with sampleRate: ${this.#sampleRate}.`,
      });
    }
    const { sampleRate, samples, filepath, offsetSeconds } = excerpt;
    const facts = { audio_filepath: filepath, offset: offsetSeconds, duration: samples / sampleRate };
    return { kind: 'decoded', samples: toMono(excerpt), sampleRate, bytes: undefined, facts };
  }
}

/** The average of all channels. */
function toMono({ waveform, channels, samples }: LoadedExcerpt): Float32Array {
  if (channels === 1) return waveform;
  const mono = new Float32Array(samples);
  for (let channel = 0; channel < channels; channel += 1) {
    const at = channel * samples;
    for (let sample = 0; sample < samples; sample += 1) mono[sample]! += waveform[at + sample]! / channels;
  }
  return mono;
}

function reasonOf(error: CutroomError): string {
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : 'unreadable_excerpt';
}
