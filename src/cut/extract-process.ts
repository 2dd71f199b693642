// The program of a decoder process: it cuts recordings for the process that started it.
import { serveJobs } from '../run/pool-child.js';
import { extractRecording } from './extract.js';

serveJobs(extractRecording);
