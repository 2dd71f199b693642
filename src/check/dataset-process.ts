// The program of a process that looks at shards for the process that started it.
import { serveJobs } from '../run/pool-child.js';
import { inspectShard } from './dataset-shard.js';

serveJobs(inspectShard);
