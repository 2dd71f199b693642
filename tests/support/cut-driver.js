// Runs `cut()` in a process of its own, as the command line does, for tests that interrupt it.
//
// Takes as its argument the JSON of `{ options, checkpointMs, dieAtRecordings, dieAtPublish }` and prints one line of JSON:
// `{ result, libraries }`, with the native libraries that the process has loaded, or `{ error: { name, code, message, hint, path } }`.
import { existsSync, readFileSync } from 'node:fs';
import { cut } from '../../dist/cut/cut.js';

const { options, checkpointMs, dieAtRecordings, dieAtPublish } = JSON.parse(process.argv[2]);
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop.abort(new Error(signal)));

const onProgress = (progress) => {
  const isDue =
    progress.stage === 'publish' ? dieAtPublish : progress.stage === 'cut' && progress.recordings >= dieAtRecordings;
  if (isDue === true) process.kill(process.pid, 'SIGKILL');
};

try {
  const result = await cut(options, { signal: stop.signal, checkpointMs, onProgress });
  console.log(JSON.stringify({ result, libraries: listLibraries() }));
} catch (error) {
  const { name, code, message, hint, path, stack } = error;
  console.log(JSON.stringify({ error: { name, code, message, hint, path, ...(code === undefined ? { stack } : {}) } }));
  process.exitCode = 3;
}

function listLibraries() {
  if (!existsSync('/proc/self/maps')) return [];
  const paths = readFileSync('/proc/self/maps', 'utf8').match(/\/\S+\.node$/gmu) ?? [];
  return [...new Set(paths)];
}
