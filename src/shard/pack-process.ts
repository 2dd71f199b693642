// The program of a process that makes shards for the process that started it.
import { kill } from 'node:process';
import { systemCode } from '../errors.js';
import { serveJobs } from '../run/pool-child.js';
import { packShard, type PackShardJob } from './pack-shard.js';

serveJobs<PackShardJob>((job, report) => packShard(job, report, isProcessAlive));

function isProcessAlive(pid: number): boolean {
  try {
    kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}
