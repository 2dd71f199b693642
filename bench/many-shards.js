// Very many small shards, for gen-lst and check.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { END_OF_ARCHIVE, paddingBytes, tarHeader } from '../dist/tar/header.js';

const PAYLOAD = Buffer.alloc(64, 'audio');
const SECONDS = 2.5;

/**
 * Makes shards with members that are no audio, where they are not there yet.
 *
 * @returns {{ pattern: string, manifests: string }}
 */
export function makeManyShards(folder, shards, members) {
  const home = path.join(folder, `${shards}x${members}`);
  const made = { pattern: path.join(home, 'audios/*.tar'), manifests: path.join(home, 'manifests') };
  const done = path.join(home, 'done');
  if (existsSync(done)) return made;
  mkdirSync(path.join(home, 'audios'), { recursive: true });
  mkdirSync(made.manifests, { recursive: true });
  const padding = Buffer.alloc(paddingBytes(PAYLOAD.length));
  for (let shard = 0; shard < shards; shard += 1) {
    const key = `train.${String(shard).padStart(6, '0')}`;
    const blocks = [];
    const rows = [];
    for (let k = 0; k < members; k += 1) {
      const name = `utt_${shard}_${k}.flac`;
      blocks.push(tarHeader({ name, sizeBytes: PAYLOAD.length }), PAYLOAD, padding);
      rows.push(
        `${JSON.stringify({ audio_filepath: name, text: `utterance ${k} of shard ${shard}`, duration: SECONDS })}\n`,
      );
    }
    writeFileSync(path.join(home, 'audios', `${key}.tar`), Buffer.concat([...blocks, END_OF_ARCHIVE]));
    writeFileSync(path.join(made.manifests, `${key}.jsonl`), rows.join(''));
  }
  writeFileSync(done, '');
  return made;
}
