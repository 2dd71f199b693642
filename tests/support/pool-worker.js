// The program of a pool's processes in tests: does what the job says.
import { setTimeout as sleep } from 'node:timers/promises';
import { serveJobs } from '../../dist/run/pool-child.js';

serveJobs(async (job, report) => {
  switch (job.do) {
    case 'answer':
      return { answer: job.with, pid: process.pid };
    case 'report':
      for (let step = 1; step <= job.times; step += 1) {
        await report({ step });
        await sleep(job.everyMs ?? 0);
      }
      return 'reported';
    case 'throw':
      throw new RangeError(job.message);
    case 'exit':
      process.stderr.write(job.saying ?? '');
      process.exit(job.code);
      break;
    case 'signal':
      process.stderr.write(job.saying ?? '');
      process.kill(process.pid, job.signal);
      await sleep(60_000);
      break;
    case 'sleep':
      await sleep(job.ms);
      return 'slept';
    case 'block':
      for (const endMs = performance.now() + job.ms; performance.now() < endMs;);
      return 'blocked';
    default:
      throw new TypeError(`What is ${job.do}?`);
  }
  return undefined;
});
