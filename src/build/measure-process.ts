import { AudioError } from '../audio/audio-error.js';
import { measureRecording } from '../audio/measure-recording.js';
import { probeRecording } from '../audio/probe-recording.js';
import { errorMessage } from '../errors.js';
import { serveJobs, type Report } from '../run/pool-child.js';
import type { MeasureJob, Measured } from './measure.js';

serveJobs<MeasureJob>(async ({ paths }, report) => {
  const measured: Measured[] = [];
  for (const path of paths) {
    measured.push(await measure(path, report));
    await report(undefined);
  }
  return measured;
});

async function measure(path: string, report: Report): Promise<Measured> {
  try {
    const { seconds } = probeRecording(path);
    if (seconds !== undefined) return { seconds };
    const { frames, sampleRate } = await measureRecording(path, () => report(undefined));
    return { seconds: frames / sampleRate };
  } catch (error) {
    if (error instanceof AudioError) return { reason: error.reason, message: error.message };
    return { reason: 'decoder_failed', message: `Cannot read "${path}": ${errorMessage(error)}` };
  }
}
