// The program of a process that decodes audio for the process that started it.
import { serveJobs } from '../run/pool-child.js';
import { decodeItems } from './deep-decode.js';

serveJobs(decodeItems);
