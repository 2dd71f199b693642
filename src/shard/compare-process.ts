// The program of a process that compares shards for the process that started it.
import { serveJobs } from '../run/pool-child.js';
import { compareShard } from './compare-shard.js';

serveJobs(compareShard);
