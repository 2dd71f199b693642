// Runs `scan()` in a process of its own, for tests that kill it. Takes the JSON of `{ options, dieAtFiles, dieAtPublish }`.
import { scan } from '../../dist/sample/scan.js';

const { options, dieAtFiles, dieAtPublish } = JSON.parse(process.argv[2]);
const result = await scan(options, {
  onProgress: (progress) => {
    const isDue =
      progress.stage === 'publish' ? dieAtPublish : progress.stage === 'read' && progress.files >= dieAtFiles;
    if (isDue === true) process.kill(process.pid, 'SIGKILL');
  },
});
console.log(JSON.stringify(result));
