// Fetches real music: the tracks of Debian's wesnoth-1.16-music, minutes each, in Ogg Vorbis.
//
//   node scripts/game-music.js FOLDER
//
// On a machine without apt-get it says so and ends.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { unpackPackages } from './debian-packages.js';

const folder = path.resolve(process.argv[2] ?? '.corpus/game-music');
if (!unpackPackages(folder, ['wesnoth-1.16-music'])) {
  console.error('game-music: apt-get and dpkg-deb are not here: without them the music cannot be fetched');
} else {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ogg'));
  console.log(`${files.length} tracks in ${folder}`);
}
