import { JsonObject } from '../manifest/json-object.js';
import type { PlannedItem } from '../shard/plan.js';
import type { UtteranceRow, RowRefusal } from '../shard/utterance-row.js';
import { flattenId, idFault, idOfPath } from '../shard/member-id.js';
import { normalizeCjkText } from './normalize-text.js';
import type { PlanOptions } from './options.js';

/** The fields that every row of an ATdataset manifest has: a column of one of these names loses. */
const OWN_FIELDS = ['audio_filepath', 'text', 'duration'];

/** What is worth a warning with a count when the plan is made. */
export interface AcceptNotes {
  emptyTexts: number;
  flattenedIds: number;
}

/** Makes items of utterances. */
export class RowAccepter {
  readonly notes: AcceptNotes = { emptyTexts: 0, flattenedIds: 0 };
  readonly #options: PlanOptions;
  readonly #extension: string;

  constructor(options: PlanOptions) {
    this.#options = options;
    this.#extension = `.${options.format}`;
  }

  /** The item of an utterance, or why it cannot be one. */
  accept(row: UtteranceRow, input: number, line: number): PlannedItem | RowRefusal {
    const given = row.id ?? idOfPath(row);
    if (given.trim() === '') return { reason: 'empty_id', message: 'the id is empty' };
    if (row.path.trim() === '') return { reason: 'empty_path', message: 'the path of the audio is empty', id: given };
    if (row.path.includes('\0')) {
      return { reason: 'bad_path', message: 'the path of the audio holds a NUL character', id: given };
    }
    const id = this.#fitId(given);
    if (typeof id === 'object') return id;
    const text = this.#options.normalizeText === 'cjk' ? normalizeCjkText(row.text) : row.text;
    if (text.trim() === '') this.notes.emptyTexts += 1;
    const extras = row.extras ?? new JsonObject();
    if (id !== given && !extras.has('id')) extras.set('id', JSON.stringify(given));
    const member = id + this.#extension;
    return {
      input,
      line,
      id,
      member,
      path: row.path,
      ...(row.inside === undefined ? {} : { inside: row.inside }),
      ...(row.span === undefined ? {} : { span: row.span }),
      how: this.#howToMake(row),
      row: spellRow(member, text, extras),
      ...(row.duration === undefined ? {} : { duration: row.duration }),
    };
  }

  #fitId(given: string): string | RowRefusal {
    const fault = idFault(given, this.#extension);
    if (fault === undefined) return given;
    const flat = flattenId(given);
    const left = idFault(flat, this.#extension);
    if (this.#options.onBadId === 'flatten' && left === undefined) {
      this.notes.flattenedIds += 1;
      return flat;
    }
    const message = `the id ${JSON.stringify(given)} cannot name a member: ${fault}`;
    const hint =
      left === undefined
        ? `choose another id, or give --on-bad-id flatten for ${JSON.stringify(flat)}`
        : 'choose another id';
    return { reason: 'bad_id', message, hint, id: given };
  }

  #howToMake({ inside, span, own }: UtteranceRow): PlannedItem['how'] {
    const { copy, format, sampleRate, channel } = this.#options;
    if (inside === undefined) return copy ? 'fit' : 'encode';
    const isOfFormat = inside.name.toLowerCase().endsWith(`.${format}`);
    // Without a look at the audio nobody knows where a span ends.
    if (!copy || !isOfFormat || span !== undefined || channel !== 'average') return 'fit';
    const isRight = own !== undefined && (sampleRate === null || sampleRate === own.sampleRate);
    return isRight ? 'copy' : 'fit';
  }
}

function spellRow(member: string, text: string, extras: JsonObject): [string, string] {
  for (const name of OWN_FIELDS) extras.delete(name);
  const head = `{"audio_filepath":${JSON.stringify(member)},"text":${JSON.stringify(text)},"duration":`;
  return [head, extras.keys().length === 0 ? '}' : `,${extras.stringify().slice(1)}`];
}
