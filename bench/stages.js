// Where the CPU time of cutting goes:
//
//     node --expose-gc bench/stages.js MANIFEST AUDIO_DIR WORK_DIR
//
// cuts each recording three times in this process, and prints, as JSON, the CPU seconds of decoding alone, of decoding
// and resampling, and of the whole extraction into part files. The three alternate by recording, so that a machine
// that changes its speed meanwhile changes it for all.
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { cutSpans } from '../dist/audio/cut-spans.js';
import { planCut } from '../dist/cut/cut.js';
import { extractRecording } from '../dist/cut/extract.js';
import { partPath } from '../dist/cut/part.js';
import { endFrame, firstFrame } from '../dist/audio/times.js';

const TARGET_RATE = 16_000;
const NULL_SINK = { write() {}, finish() {}, miss() {} };

async function measureStages(inputManifest, audioDir, workDir) {
  const plan = await planCut({ inputManifest, audioDir, outputDir: workDir, maxDurationSeconds: 30 });
  const seconds = { decode: 0, resampled: 0, extracted: 0 };
  mkdirSync(workDir, { recursive: true });
  try {
    for (const index of plan.recordingsInOrder()) {
      const recording = await plan.recording(index);
      seconds.decode += await cpuSecondsOf(() => sweep(recording, () => undefined));
      seconds.resampled += await cpuSecondsOf(() => sweep(recording, () => NULL_SINK));
      seconds.extracted += await cpuSecondsOf(() => extract(recording, workDir));
    }
  } finally {
    await plan.close();
    rmSync(workDir, { recursive: true });
  }
  return seconds;
}

async function cpuSecondsOf(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

async function sweep({ audioPath, snippets }, sinkOf) {
  await cutSpans(
    audioPath,
    (rate) =>
      snippets.map(({ startMicros, endMicros }) => ({
        firstFrame: firstFrame(startMicros, rate),
        endFrame: endFrame(endMicros, rate),
      })),
    sinkOf,
    { targetRate: TARGET_RATE, mix: 'average', onPosition: () => nextTurn() },
  );
}

async function extract({ audioPath, snippets, index }, workDir) {
  const job = {
    audioPath,
    snippets: snippets.map((snippet) => ({ ...snippet, isDone: false })),
    targetSampleRate: TARGET_RATE,
    outputFormat: 'flac',
    channel: 'average',
    part: partPath(workDir, index, 0),
  };
  const { failure, outputFault } = await extractRecording(job, () => nextTurn());
  const fault = failure ?? outputFault;
  if (fault !== undefined) throw new Error(fault.message);
}

const [manifest, audioDir, workDir] = process.argv.slice(2);
console.log(JSON.stringify(await measureStages(manifest, audioDir, path.resolve(workDir))));
