// Counts what a program asks of the file system, by name of call: `node --import ./bench/count-calls.js program.js`. Writes the counts as JSON
// to the file that CUTROOM_CALLS names, when the program ends. Loading the program's modules is not counted.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { appendFileSync } from 'node:fs';

/** What Node.js does for one call of its own, as the system sees it. Names of FileHandle's methods begin with a dot. */
const SYSTEM_CALLS = {
  open: ['open'],
  close: ['close'],
  stat: ['stat'],
  lstat: ['stat'],
  fstat: ['stat'],
  access: ['stat'],
  existsSync: ['stat'],
  readFile: ['open', 'stat', 'read', 'close'],
  writeFile: ['open', 'write', 'close'],
  appendFile: ['open', 'write', 'close'],
  copyFile: ['open', 'open', 'copy', 'close', 'close'],
  readdir: ['open', 'list', 'close'],
  opendir: ['open', 'list', 'close'],
  mkdir: ['mkdir'],
  mkdtemp: ['mkdir'],
  rmdir: ['unlink'],
  unlink: ['unlink'],
  rm: ['unlink'],
  rename: ['rename'],
  link: ['link'],
  symlink: ['link'],
  readlink: ['stat'],
  realpath: ['stat'],
  truncate: ['truncate'],
  ftruncate: ['truncate'],
  utimes: ['utimes'],
  futimes: ['utimes'],
  fsync: ['sync'],
  fdatasync: ['sync'],
  read: ['read'],
  readv: ['read'],
  write: ['write'],
  writev: ['write'],
  '.close': ['close'],
  '.stat': ['stat'],
  '.read': ['read'],
  '.readv': ['read'],
  '.readFile': ['stat', 'read'],
  '.write': ['write'],
  '.writev': ['write'],
  '.writeFile': ['write'],
  '.truncate': ['truncate'],
  '.utimes': ['utimes'],
  '.sync': ['sync'],
  '.datasync': ['sync'],
};

/** What Node.js reads to load the program itself. */
const MODULE = /(?:^|\/)(?:dist|node_modules)\/|\/package\.json$/u;

const counts = {};

for (const [name, calls] of Object.entries(SYSTEM_CALLS)) {
  if (name.startsWith('.')) continue;
  for (const [object, key] of [
    [fs, name],
    [fs, `${name}Sync`],
    [fs.promises, name],
  ]) {
    wrap(object, key, calls);
  }
}
const handle = await fs.promises.open(process.execPath);
const prototype = Object.getPrototypeOf(handle);
await handle.close();
for (const [name, calls] of Object.entries(SYSTEM_CALLS))
  if (name.startsWith('.')) wrap(prototype, name.slice(1), calls);
syncBuiltinESMExports();
for (const name of Object.keys(counts)) delete counts[name];

process.on('exit', () => appendFileSync(process.env.CUTROOM_CALLS, `${JSON.stringify(counts)}\n`));

function wrap(object, key, calls) {
  const original = object[key];
  if (typeof original !== 'function') return;
  object[key] = function counted(...args) {
    if (!MODULE.test(String(args[0]))) for (const call of calls) counts[call] = (counts[call] ?? 0) + 1;
    return Reflect.apply(original, this, args);
  };
  Object.assign(object[key], original);
}
