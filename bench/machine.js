// Says on what the figures were measured.
import { spawnSync } from 'node:child_process';
import { availableParallelism, cpus, release, totalmem } from 'node:os';

/**
 * The machine and the programs that take part.
 *
 * @returns {{ cpu: string, cores: number, memoryGb: number, kernel: string, node: string, ffmpeg: string | undefined }}
 */
export function describeMachine() {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    ffmpeg: ffmpegVersion(),
  };
}

/** Undefined where there is none. */
function ffmpegVersion() {
  const { status, stdout } = spawnSync('ffmpeg', ['-version'], { encoding: 'utf8' });
  return status === 0 ? /^ffmpeg version (\S+)/u.exec(stdout)?.[1] : undefined;
}
