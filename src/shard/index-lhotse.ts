import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage, OutputError, systemCode } from '../errors.js';
import { kindOfJson, type JsonObject } from '../manifest/json-object.js';
import { ensureFolder, removeFile, writeFileAtomic } from '../run/atomic-file.js';
import { MemberAudioReader, type MemberAudio } from './index-member-audio.js';
import { RowsByShard, withRows } from './index-rows.js';
import { placeInFolder } from './index-shard-files.js';
import type { IndexedDataset } from './index-types.js';
import { IndexWarnings } from './index-warnings.js';
import type { PackedRow } from './packed-rows.js';
import { sampleKey } from './sample-key.js';

/** The folder that `CutSet.from_shar(in_dir=…)` opens. Nothing but fields may lie in it. */
const SHAR_FOLDER = 'shar';

/** From so many members on, opening one takes longer than decoding it. */
const MANY_MEMBERS = 5000;

/** Lhotse takes a span that differs by so much from its audio for all of it; NeMo's reader does the same. */
const WHOLE_MICROS = 200_000;

/**
 * Cuts for Lhotse, in the layout of Shar: `shar/cuts.000000.jsonl` and so on, one for each shard. Their recordings are the members of the tars,
 * named `audio_0.tar/a.flac` relative to the folder, which Lhotse (1.32 and newer) opens inside the tar. A recording field, as Shar has it,
 * would hold all audio a second time, since each member must be followed by its description.
 *
 * Lhotse reads all headers of a tar each time that it opens a member: measured, 20 ms for 1,000 members.
 */
export class LhotseIndex {
  readonly warnings = new IndexWarnings('lhotse');
  readonly #dataset: IndexedDataset;

  constructor(dataset: IndexedDataset) {
    this.#dataset = dataset;
  }

  /** Writes the cuts of all shards; returns the names of the files. */
  async write(signal: AbortSignal | undefined, onShard: () => void): Promise<string[]> {
    const { folder, shards } = this.#dataset;
    const found = shards.map(withRows);
    const rows = new RowsByShard(
      found.filter((shard) => shard !== undefined),
      this.warnings,
      signal,
    );
    const files: string[] = [];
    try {
      for (const [number, { tarPath }] of shards.entries()) {
        const tarName = placeInFolder(folder, tarPath);
        if (found[number] === undefined) this.warnings.add('a shard without a manifest has no cuts', `"${tarName}"`);
        else files.push(await this.#writeShard(rows.of(files.length), tarPath, number));
        onShard();
      }
    } finally {
      await rows.close();
    }
    await this.#removeOthers(files);
    return files;
  }

  async #writeShard(rows: AsyncGenerator<PackedRow>, tarPath: string, number: number): Promise<string> {
    const { folder } = this.#dataset;
    const tarName = placeInFolder(folder, tarPath);
    const name = `${SHAR_FOLDER}/cuts.${String(number).padStart(6, '0')}.jsonl`;
    if (!tarName.endsWith('.tar') || tarName.includes('.tar/')) {
      const hint = 'Rename the tar, or its folder.';
      this.warnings.add(
        'Lhotse finds members only where ".tar" stands at the end of the path alone',
        `"${tarName}"`,
        hint,
      );
    }
    await ensureFolder(path.join(folder, SHAR_FOLDER));
    const reader = new MemberAudioReader(tarPath);
    try {
      await writeFileAtomic(path.join(folder, name), async (write) => {
        let count = 0;
        for await (const row of rows) {
          count += 1;
          if (count === MANY_MEMBERS) {
            const state =
              'Lhotse reads all headers of a tar each time that it opens a member, which is slow for large ones';
            this.warnings.add(state, `"${tarName}"`, `Make more shards, of fewer than ${MANY_MEMBERS} members.`);
          }
          const cut = this.#cutOf(row, reader.read(row.audio.offset, row.audio.size), tarName);
          if (cut !== undefined) await write(`${cut}\n`);
        }
      });
    } finally {
      reader.close();
    }
    return name;
  }

  /** Removes the cuts of shards that are no more. */
  async #removeOthers(files: readonly string[]): Promise<void> {
    const folder = path.join(this.#dataset.folder, SHAR_FOLDER);
    const names = await readdir(folder).catch((error: unknown) => {
      if (systemCode(error) === 'ENOENT') return [];
      throw new OutputError(`Cannot list "${folder}": ${errorMessage(error)}`, { path: folder, cause: error });
    });
    for (const name of names) {
      if (/^cuts\.\d{6}\.jsonl$/u.test(name) && !files.includes(`${SHAR_FOLDER}/${name}`)) {
        await removeFile(path.join(folder, name));
      }
    }
  }

  /** A cut as strict JSON, or undefined where it cannot be told. */
  #cutOf({ row, audio, file, line }: PackedRow, facts: MemberAudio | undefined, tarName: string): string | undefined {
    const place = `"${file}" line ${line}`;
    if (facts === undefined) {
      this.warnings.add('a row whose audio is of a format that is not known by its headers is left out', place);
      return undefined;
    }
    const claimedMicros = microsOf(row.raw('duration'));
    const { sampleRate, channels } = facts;
    const frames = facts.frames ?? framesOf(claimedMicros, microsOf(row.raw('offset')), sampleRate);
    if (frames === undefined) {
      this.warnings.add('a row whose audio has no length by its headers, and none of its own, is left out', place);
      return undefined;
    }
    const span = spanOf(row, frames / sampleRate, claimedMicros);
    if (span === undefined) {
      this.warnings.add('a row whose span lies outside its audio is left out', place);
      return undefined;
    }
    const id = `${sampleKey(row.value('audio_filepath') as string)}${span.start > 0 ? `-${span.start}` : ''}`;
    const channel = channels === 1 ? 0 : Array.from({ length: channels }, (_, index) => index);
    const source = { type: 'file', channels: [channel].flat(), source: `${tarName}/${audio.name}` };
    const recordingId = sampleKey(audio.name);
    const recording = {
      ...{ id: recordingId, sources: [source], sampling_rate: sampleRate, num_samples: frames },
      duration: frames / sampleRate,
    };
    const supervision = { id, recording_id: recordingId, start: 0, duration: span.duration, channel };
    const supervisionJson = `${JSON.stringify(supervision).slice(0, -1)}${describedBy(row)}}`;
    const head = JSON.stringify({ id, ...span, channel }).slice(0, -1);
    const type = channels === 1 ? 'MonoCut' : 'MultiCut';
    return `${head},"supervisions":[${supervisionJson}],"recording":${JSON.stringify(recording)}${customOf(row)},"type":"${type}"}`;
  }
}

/** Where a cut lies in its recording, in seconds. */
function spanOf(
  row: JsonObject,
  lengthSeconds: number,
  claimedMicros: number | undefined,
): { start: number; duration: number } | undefined {
  const whole = { start: 0, duration: lengthSeconds };
  const offsetMicros = microsOf(row.raw('offset'));
  const lengthMicros = lengthSeconds * 1e6;
  if (claimedMicros === undefined || Math.abs(claimedMicros - lengthMicros) < WHOLE_MICROS) return whole;
  const start = (offsetMicros ?? 0) / 1e6;
  const duration = Math.min(claimedMicros / 1e6, lengthSeconds - start);
  return duration > 0 ? { start, duration } : undefined;
}

function framesOf(
  durationMicros: number | undefined,
  offsetMicros: number | undefined,
  rate: number,
): number | undefined {
  if (durationMicros === undefined) return undefined;
  return Math.round(((durationMicros + (offsetMicros ?? 0)) * rate) / 1e6);
}

/** A time of a row, above or at 0. */
function microsOf(raw: string | undefined): number | undefined {
  if (raw === undefined || kindOfJson(raw) !== 'number') return undefined;
  const micros = Math.round(Number(raw) * 1e6);
  return Number.isSafeInteger(micros) && micros >= 0 ? micros : undefined;
}

/** Fields of a supervision that a row has by these names. */
const DESCRIBING = ['text', 'language', 'lang', 'speaker', 'gender'] as const;

function describedBy(row: JsonObject): string {
  const fields = new Map<string, string>();
  for (const name of DESCRIBING) {
    const field = name === 'lang' ? 'language' : name;
    const raw = row.raw(name);
    if (raw !== undefined && kindOfJson(raw) === 'string' && !fields.has(field)) fields.set(field, raw);
  }
  return [...fields].map(([field, raw]) => `,"${field}":${raw}`).join('');
}

/** Fields that the cut says in its own way. */
const SAID: ReadonlySet<string> = new Set(['audio_filepath', 'duration', 'offset', 'text']);

/** All other fields of a row, as they stand there. */
function customOf(row: JsonObject): string {
  const rest = row.clone();
  for (const key of SAID) rest.delete(key);
  return rest.keys().length === 0 ? '' : `,"custom":${rest.stringify()}`;
}
