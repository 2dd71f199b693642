import { InputError } from '../errors.js';
import type { AudioOutcome, AudioReader } from './audio-reader.js';
import type { Augmenter, DecodedNoise, DrawnAugmentation } from './augment.js';
import type { AppliedAugmentation, Batch, ItemFailure } from './batch.js';
import { BatchRoom } from './batch-room.js';
import { collate } from './collate.js';
import type { CollatedItem } from './collate.js';
import { countSamples } from './decode-request.js';
import type { DescribedItem, ItemDescriber } from './described-item.js';
import type { LoaderState, PlannedBatch } from './epoch-plan.js';
import { failureOf } from './item-failure.js';
import { isOverlong, listOverlong, overlongFailure } from './overlong.js';
import type { DurationLimit } from './overlong.js';
import type { NoiseMixer } from './noise-mixer.js';
import type { Replacements } from './replacements.js';
import { SampleRooms } from './sample-rooms.js';
import { atSpeed } from './speed-of.js';
import type { SpeedOf } from './speed-of.js';
import { Turns } from './turns.js';

/** What becomes of the place of an item that cannot be read. */
export type OnItemError = 'replace' | 'drop' | 'raise';

export interface BatchMakerParts {
  describer: ItemDescriber;
  audio: AudioReader;
  speedOf: SpeedOf;
  /** Of an item's row, at the speed of the recording. */
  durationMicrosOf: (item: number) => number;
  /** Undefined where batches are limited by counts alone. */
  limit: DurationLimit | undefined;
  replacements: Replacements;
  onItemError: OnItemError;
  copies: number;
  wantsBytes: boolean;
  wantsLines: boolean;
  /** Hz of a batch without items; of others that of the audio. */
  sampleRate: number | null;
  augmenter: Augmenter | undefined;
  noises: NoiseMixer | undefined;
}

/** One item's place in a batch. */
interface Place {
  /** Of the plan: all that is drawn hangs on it, whatever takes the place. */
  item: number;
  pass: number;
  speed: number;
  plannedMicros: number;
  isPad: boolean;
  /** What stands in it. */
  described: DescribedItem;
  outcome: AudioOutcome;
  failures: ItemFailure[];
}

type Decoded = AudioOutcome & { kind: 'decoded' };

/** Durations are rounded to whole microseconds. */
const MICROS_SLACK = 0.6;
/** Batches that wait to be used again, at most. */
const MAX_ROOM_BYTES = 128 * 2 ** 20;

/** Makes batches of what the plan says: a pure function of the planned batch, but for the time it takes. */
export class BatchMaker {
  readonly #parts: BatchMakerParts;
  /** Exactly as large as the audio, so that its `buffer` is too as long as nothing is given back. */
  readonly #rooms = new SampleRooms({ maxBytes: MAX_ROOM_BYTES, stepSamples: 1 });
  /** Batches are decoded in the order in which they are asked for: the first one does not wait for those that are decoded ahead. */
  readonly #turns = new Turns();
  /** Rows whose durations are not exact have batches that are not of the length that they say. */
  #areDurationsExact = true;

  constructor(parts: BatchMakerParts) {
    this.#parts = parts;
  }

  /**
   * @param state the state after the batch
   * @throws the signal's reason.
   * @throws InputError for an item that cannot be read, where errors are to be raised; or when a manifest cannot be read any more.
   */
  async make(planned: PlannedBatch, state: LoaderState, signal: AbortSignal): Promise<Batch> {
    const room = new BatchRoom(this.#rooms, planned.items.length, this.#longestOf(planned));
    const places = await this.#read(planned, room, signal);
    this.#failOverlong(places);
    if (this.#parts.onItemError === 'raise') raiseFirst(places);
    if (this.#parts.onItemError === 'replace') await this.#replace(places, signal);
    const failures = places.flatMap((place) => place.failures);
    const filled = places.filter((place): place is Place & { outcome: Decoded } => place.outcome.kind === 'decoded');
    const { copies, wantsBytes, wantsLines, sampleRate, audio } = this.#parts;
    const wants = { bytes: wantsBytes, lines: wantsLines };
    const collated = collate(filled.map(toCollated), copies, wants, room.take);
    if (failures.length === 0 && room.isMisjudged(collated.shape[1])) this.#areDurationsExact = false;
    audio.recycle(filled.map(({ outcome }) => outcome));
    const { augmentations, noiseFailures } = await this.#augment(filled, collated, signal);
    return {
      ...collated,
      sampleRate: filled[0]?.outcome.sampleRate ?? sampleRate ?? 0,
      augmentations,
      epoch: planned.epoch,
      step: planned.step,
      rank: planned.rank,
      bucket: planned.bucket,
      padCount: filled.filter(({ isPad }) => isPad).length,
      failures: [...failures, ...noiseFailures],
      state,
    };
  }

  /** Takes back the memory of a batch's audio, and of bytes that were encoded for it. */
  recycle(batch: Pick<Batch, 'audio'> & Partial<Pick<Batch, 'bytes'>>): void {
    this.#rooms.giveBack(batch.audio);
    if (batch.bytes !== undefined) this.#parts.audio.recycleBytes(batch.bytes);
    batch.audio = new Float32Array(0);
  }

  async #read({ items, passes, padCount }: PlannedBatch, room: BatchRoom, signal: AbortSignal): Promise<Place[]> {
    const { describer, audio, speedOf, durationMicrosOf, copies } = this.#parts;
    if (items.length === 0) return [];
    const speeds = Array.from(items, (item, at) => speedOf(item, passes[at] ?? 0));
    let described: DescribedItem[] = [];
    const outcomes = await this.#turns.take(
      async () => (described = await describer.describe([...items])),
      async (descriptions) => {
        // What a row says may be far from what there is.
        const isDivided = this.#areDurationsExact && copies === 1 && room.sizeBytes <= MAX_ROOM_BYTES;
        const wanted = descriptions.map((description, at) => ({ audio: description.audio, speed: speeds[at]! }));
        return await audio.read(wanted, signal, isDivided ? room.divide : undefined);
      },
    );
    return described.map((description, at) => {
      const outcome = outcomes[at]!;
      const item = items[at]!;
      const speed = speeds[at]!;
      return {
        item,
        pass: passes[at] ?? 0,
        speed,
        plannedMicros: atSpeed(durationMicrosOf(item), speed),
        isPad: at >= items.length - padCount,
        described: description,
        outcome,
        failures: outcome.kind === 'failed' ? [failureOf(description, outcome)] : [],
      };
    });
  }

  /** Samples of the longest item, if durations of the rows are exact but for the microsecond that they are rounded to. */
  #longestOf({ items, passes }: PlannedBatch): number {
    const { speedOf, durationMicrosOf, sampleRate } = this.#parts;
    const micros = Array.from(items, (item, at) => atSpeed(durationMicrosOf(item), speedOf(item, passes[at] ?? 0)));
    const most = micros.reduce((longest, own) => Math.max(longest, own), 0);
    return Math.ceil(((most - MICROS_SLACK) * (sampleRate ?? 0)) / 1e6);
  }

  #failOverlong(places: readonly Place[]): void {
    const { limit } = this.#parts;
    if (limit === undefined) return;
    for (const place of listOverlong(places, limit)) {
      const failed = overlongFailure(place.described.id, place.outcome, place.plannedMicros);
      place.failures.push(failureOf(place.described, failed));
      place.outcome = failed;
    }
  }

  /** Fills the places of items that could not be read, as far as what is offered for them can be read. */
  async #replace(places: readonly Place[], signal: AbortSignal): Promise<void> {
    const { describer, audio, replacements, limit } = this.#parts;
    const open = places.flatMap((place) => {
      return place.outcome.kind === 'failed' ? [{ place, offers: replacements.offers(place.item, place.pass) }] : [];
    });
    for (let attempt = 0; ; attempt += 1) {
      const asked = open.flatMap(({ place, offers }) => {
        const item = offers[attempt];
        return place.outcome.kind === 'failed' && item !== undefined ? [{ place, item }] : [];
      });
      if (asked.length === 0) return;
      const described = await describer.describe(asked.map(({ item }) => item));
      const outcomes = await audio.read(
        asked.map(({ place }, at) => ({ audio: described[at]!.audio, speed: place.speed })),
        signal,
      );
      for (const [at, { place }] of asked.entries()) {
        const description = described[at]!;
        const { plannedMicros } = place;
        const isTooLong = limit !== undefined && isOverlong(outcomes[at]!, plannedMicros);
        const outcome = isTooLong ? overlongFailure(description.id, outcomes[at]!, plannedMicros) : outcomes[at]!;
        if (outcome.kind === 'failed') {
          place.failures.push(failureOf(description, outcome));
          continue;
        }
        place.outcome = outcome;
        place.described = description;
        place.failures = place.failures.map((failure) => ({ ...failure, replacedBy: description.id }));
      }
    }
  }

  async #augment(
    places: readonly (Place & { outcome: Decoded })[],
    { audio, shape: [count, longest], audioLengths }: Pick<Batch, 'audio' | 'shape' | 'audioLengths'>,
    signal: AbortSignal,
  ): Promise<{ augmentations: AppliedAugmentation[] | undefined; noiseFailures: ItemFailure[] }> {
    const { augmenter, noises } = this.#parts;
    if (augmenter === undefined) return { augmentations: undefined, noiseFailures: [] };
    const drawn = Array.from({ length: count }, (_, at): DrawnAugmentation => {
      const { item, pass } = places[at % places.length]!;
      return augmenter.draw(item, pass, Math.floor(at / places.length));
    });
    const wanted = drawn.flatMap(({ noise }, at) => {
      return noise === undefined ? [] : [{ at, drawn: noise, samples: audioLengths[at] ?? 0 }];
    });
    const read = noises === undefined ? undefined : await noises.read(wanted, signal);
    const noiseOf = new Map<number, DecodedNoise | undefined>(wanted.map(({ at }, slot) => [at, read?.noises[slot]]));
    const augmentations = drawn.map((changes, at) => {
      const signalSamples = audio.subarray(at * longest, at * longest + (audioLengths[at] ?? 0));
      return augmenter.apply(signalSamples, places[at % places.length]!.speed, changes, noiseOf.get(at));
    });
    return { augmentations, noiseFailures: read?.failures ?? [] };
  }
}

function toCollated({ described, outcome, speed }: Place & { outcome: Decoded }): CollatedItem {
  const { text, id, row, rowLine, source, audio } = described;
  // Bytes of a whole file are not those of the span that the item is.
  const isWhole = audio.kind === 'encoded' && audio.place.span === undefined && speed === 1;
  const bytes = isWhole || outcome.encodedSamples !== undefined ? outcome.bytes : undefined;
  return {
    samples: outcome.samples,
    sampleCount: countSamples(outcome),
    text,
    id,
    row: { ...outcome.facts, ...row },
    rowLine,
    source,
    bytes,
  };
}

/** @throws InputError for the first item that could not be read. */
function raiseFirst(places: readonly Place[]): void {
  const [failure] = places.flatMap((place) => place.failures);
  if (failure === undefined) return;
  const { source, id, message, hint, manifestPath, lineNumber } = failure;
  const options = manifestPath === '' ? {} : { path: manifestPath, line: lineNumber };
  throw new InputError(`${message} (item "${id}" of "${source}")`, { hint, ...options });
}
