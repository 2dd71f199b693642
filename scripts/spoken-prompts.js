// Makes manifests of real speech: the prompts of Debian's asterisk-core-sounds packages, English, French and Spanish, 8 kHz.
//
//   node scripts/spoken-prompts.js FOLDER
//
// Fetches the packages with apt-get into FOLDER where they are not there yet, unpacks them without installing anything, and writes a
// TSV for `cutroom build` and a NeMo manifest for `cutroom tar`, one of each a language. What the packages hold is taken as it is: texts without a
// file, files without a text, silence, tones and a text that stands twice are all in there. On a machine without apt-get it says so and ends.
import { closeSync, existsSync, openSync, readFileSync, readSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unpackPackages } from './debian-packages.js';

const LANGUAGES = { en: 'en_US_f_Allison', fr: 'fr_CA_f_June', es: 'es_MX_f_Allison' };

const folder = path.resolve(process.argv[2] ?? '.corpus/spoken-prompts');
const packages = Object.keys(LANGUAGES).flatMap((code) => [
  `asterisk-core-sounds-${code}-wav`,
  `asterisk-core-sounds-${code}`,
]);

if (!unpackPackages(folder, packages)) {
  console.error('spoken-prompts: apt-get and dpkg-deb are not here: without them the prompts cannot be fetched');
  process.exit(0);
}
for (const [code, voice] of Object.entries(LANGUAGES)) writeManifests(code, voice);

function writeManifests(code, voice) {
  const share = path.join(folder, 'usr/share');
  const sounds = path.join(share, 'asterisk/sounds', voice);
  const list = gunzipSync(
    readFileSync(path.join(share, `doc/asterisk-core-sounds-${code}/core-sounds-${code}.txt.gz`)),
  );
  const prompts = [];
  for (const line of list.toString().split('\n')) {
    const colon = line.indexOf(':');
    if (line.startsWith(';') || colon < 0) continue;
    prompts.push({ key: line.slice(0, colon).trim(), text: line.slice(colon + 1).trim() });
  }
  const known = new Set(prompts.map(({ key }) => key));
  const files = readdirSync(sounds, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.wav'));
  for (const file of files.sort()) {
    const key = file.slice(0, -'.wav'.length);
    if (!known.has(key)) prompts.push({ key, text: '' });
  }
  const from = path.relative(folder, sounds);
  const utterances = prompts.map(({ key, text }) => ({
    id: `${code}_${key.replaceAll('/', '_')}`,
    file: `${from}/${key}.wav`,
    text,
  }));
  const tsv = utterances.map(({ id, file, text }) => `${id}\t${file}\t${text}\n`);
  const rows = utterances.map(({ file, text }) => {
    const duration = wavSeconds(path.join(folder, file));
    return `${JSON.stringify({ audio_filepath: file, text, ...(duration === undefined ? {} : { duration }), lang: code })}\n`;
  });
  writeFileSync(path.join(folder, `${code}.tsv`), tsv.join(''));
  writeFileSync(path.join(folder, `${code}.json`), rows.join(''));
  console.log(`${code}: ${utterances.length} prompts, ${files.length} files`);
}

/** Seconds by the header; undefined where there is no file. */
function wavSeconds(file) {
  if (!existsSync(file)) return undefined;
  const handle = openSync(file, 'r');
  const header = Buffer.alloc(4096);
  readSync(handle, header, 0, header.length, 0);
  closeSync(handle);
  for (let at = 12; at + 8 <= header.length;) {
    const sizeBytes = header.readUInt32LE(at + 4);
    if (header.toString('latin1', at, at + 4) === 'data') return sizeBytes / header.readUInt32LE(28);
    at += 8 + sizeBytes + (sizeBytes % 2);
  }
  throw new Error(`"${file}" has no data chunk in its first bytes`);
}
