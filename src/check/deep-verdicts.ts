import { countAnd, countWords } from '../count-words.js';
import { reportDataset, type DatasetKind } from './dataset-kinds.js';
import type { DeepItem, DeepResult } from './deep-items.js';
import type { CheckContext } from './finding.js';

/** Other writers round durations to milliseconds. */
const TOLERANCE_SECONDS = 0.001;
/** Doubles of equal times differ by less. */
const EPSILON_SECONDS = 1e-9;

interface RateFacts {
  count: number;
  first: DeepItem;
}

type Decoded = Extract<DeepResult, { kind: 'decoded' }>;

/** Says what is wrong with audio by what decoding it showed. */
export class DeepVerdicts {
  readonly #context: CheckContext;
  readonly #rates = new Map<number, RateFacts>();

  constructor(context: CheckContext) {
    this.#context = context;
  }

  judge(item: DeepItem, result: DeepResult): void {
    if (result.kind === 'crashed') {
      this.#tell('crashing_audio', item, `the decoder ended at it: ${result.how}`);
      return;
    }
    if (result.kind === 'undecodable') {
      this.#tell('undecodable_audio', item, result.reason);
      return;
    }
    const rate = this.#rates.get(result.sampleRate) ?? { count: 0, first: item };
    rate.count += 1;
    this.#rates.set(result.sampleRate, rate);
    this.#judgeLength(item, result);
    if (result.invalidSamples > 0) {
      this.#tell('invalid_samples', item, `${countAnd(result.invalidSamples, 'sample', 'is|are')} NaN or infinite`);
    }
    if (result.isSilent && (item.hasText || item.line === undefined)) {
      this.#tell('silent_audio', item, `it is silent${item.hasText ? ', and its row has a text' : ''}`);
    }
    if (result.clippedRuns > 0) {
      this.#tell('clipped_audio', item, `it is clipped in ${countWords(result.clippedRuns, 'place')}`);
    }
  }

  /** Tells of rates that differ from the one that most of the audio has. */
  finish(): void {
    const rates = [...this.#rates].toSorted(([a, x], [b, y]) => y.count - x.count || a - b);
    const [most] = rates;
    if (most === undefined) return;
    for (const [rate, { count, first }] of rates.slice(1)) {
      const message =
        `${grouped(count)} of the samples ${count === 1 ? 'has' : 'have'} ${grouped(rate)} Hz, where ${grouped(most[1].count)} ${most[1].count === 1 ? 'has' : 'have'} ` +
        `${grouped(most[0])} Hz; this is the first`;
      this.#tell('mixed_rates', first, message);
    }
  }

  #judgeLength(item: DeepItem, { frames, sampleRate, headerSeconds }: Decoded): void {
    const seconds = frames / sampleRate;
    const decoded = `${describe(seconds)} s (${countWords(frames, 'sample')} at ${grouped(sampleRate)} Hz)`;
    const isHeaderWrong = headerSeconds !== undefined && Math.abs(headerSeconds - seconds) > TOLERANCE_SECONDS;
    if (isHeaderWrong) {
      this.#tell('lying_header', item, `its header says ${describe(headerSeconds)} s, and it decodes to ${decoded}`);
    }
    // Files with a header that holds were compared with their rows without decoding.
    const isKnown = item.inside === undefined && headerSeconds !== undefined && !isHeaderWrong;
    if (item.durationSeconds === undefined || isKnown) return;
    const tolerance =
      item.tolerance === 'half_sample' ? 0.5 / sampleRate + EPSILON_SECONDS : TOLERANCE_SECONDS + EPSILON_SECONDS;
    if (Math.abs(seconds - item.durationSeconds) <= tolerance) return;
    const message = `it decodes to ${decoded}, and its row says ${describe(item.durationSeconds)} s`;
    this.#tell('duration_mismatch', item, message);
  }

  #tell(kind: DatasetKind, item: DeepItem, message: string): void {
    const { file, line, inside, id, audioPath } = item;
    reportDataset(this.#context, {
      kind,
      // A member stands in the place already.
      message: inside === undefined ? `${JSON.stringify(audioPath)}: ${message}` : message,
      file,
      line,
      offsetBytes: line === undefined && inside !== undefined ? inside.offsetBytes : undefined,
      id,
      member: inside?.name,
    });
  }
}

function describe(seconds: number): string {
  return String(Math.round(seconds * 1e6) / 1e6);
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
