import type { AudioReader } from './audio-reader.js';
import type { DecodedNoise, DrawnNoise } from './augment.js';
import type { ItemFailure } from './batch.js';
import type { DescribedItem } from './described-item.js';
import { failureOf } from './item-failure.js';
import type { NoiseSource } from './noise-source.js';

/** Noise that one copy of an item needs. */
export interface WantedNoise {
  drawn: DrawnNoise;
  /** Of the item, once it is decoded. */
  samples: number;
}

/** Reads as much noise as items need, and no more where the noise's length is known. */
export class NoiseMixer {
  readonly #source: NoiseSource;
  readonly #audio: AudioReader;
  readonly #sampleRate: number;

  constructor(source: NoiseSource, audio: AudioReader, sampleRate: number) {
    this.#source = source;
    this.#audio = audio;
    this.#sampleRate = sampleRate;
  }

  /**
   * In the order of what is wanted; undefined where none of the noises drawn can be read.
   *
   * @throws the signal's reason.
   */
  async read(
    wanted: readonly WantedNoise[],
    signal: AbortSignal,
  ): Promise<{ noises: (DecodedNoise | undefined)[]; failures: ItemFailure[] }> {
    const noises = Array.from<DecodedNoise | undefined>({ length: wanted.length });
    const failed: { slot: number; failure: ItemFailure }[] = [];
    let open = [...wanted.keys()];
    for (let attempt = 0; open.length > 0; attempt += 1) {
      const asked = open.flatMap((slot) => {
        const pick = wanted[slot]!.drawn.picks[attempt];
        return pick === undefined ? [] : [{ slot, place: Math.floor(pick * this.#source.count) }];
      });
      if (asked.length === 0) break;
      const described = await this.#source.describe(asked.map(({ place }) => place));
      const windows = asked.map(({ slot, place }, at) => this.#windowOf(described[at]!, place, wanted[slot]!));
      const outcomes = await this.#audio.read(
        windows.map(({ audio }) => ({ audio, speed: 1 })),
        signal,
      );
      open = [];
      for (const [at, outcome] of outcomes.entries()) {
        const { slot } = asked[at]!;
        const { startSamples } = windows[at]!;
        if (outcome.kind === 'failed') {
          open.push(slot);
          failed.push({ slot, failure: failureOf(described[at]!, outcome) });
          continue;
        }
        const { samples } = outcome;
        const offset = startSamples === undefined ? Math.floor(wanted[slot]!.drawn.phase * samples.length) : 0;
        noises[slot] = {
          path: described[at]!.path,
          id: described[at]!.id,
          samples,
          startSamples: startSamples ?? 0,
          offset,
        };
      }
    }
    const failures = failed.map(({ slot, failure }) => ({ ...failure, replacedBy: noises[slot]?.id }));
    return { noises, failures };
  }

  /** The part of a noise that is longer than needed; all of one that is not. */
  #windowOf(
    { audio }: DescribedItem,
    place: number,
    { drawn, samples }: WantedNoise,
  ): { audio: DescribedItem['audio']; startSamples: number | undefined } {
    const durationMicros = this.#source.durationMicrosOf(place);
    if (audio.kind !== 'encoded' || durationMicros === undefined) return { audio, startSamples: undefined };
    const spare = Math.floor((durationMicros * this.#sampleRate) / 1e6) - samples;
    if (spare <= 0) return { audio, startSamples: undefined };
    const startSamples = Math.floor(drawn.phase * (spare + 1));
    const microsOf = (count: number): number => Math.round((count * 1e6) / this.#sampleRate);
    const from = audio.place.span?.startMicros ?? 0;
    const span = { startMicros: from + microsOf(startSamples), endMicros: from + microsOf(startSamples + samples) };
    return { audio: { kind: 'encoded', place: { ...audio.place, span } }, startSamples };
  }
}
