import { readFileSync } from 'node:fs';
import { arch, platform } from 'node:os';

/** Without these, FFmpeg takes other kernels for resampling and for lossy decoders, which add in another order. */
const X64_FEATURES = ['avx2', 'fma'];

/**
 * Names the machines that give the same audio, bit for bit: those of one CPU architecture and, on x64, with the vector
 * instructions that every processor since 2015 has.
 *
 * @param cpuInfo what Linux says of its processors
 */
export function audioArchitecture(cpuInfo: string | undefined = readCpuInfo()): string {
  if (arch() !== 'x64' || cpuInfo === undefined) return arch();
  const flags = new Set(/^flags\s*:(.*)$/mu.exec(cpuInfo)?.[1]?.split(' '));
  const missing = X64_FEATURES.filter((feature) => !flags.has(feature));
  return missing.length === 0 ? 'x64' : `x64 without ${missing.join(' and ')}`;
}

function readCpuInfo(): string | undefined {
  return platform() === 'linux' ? readFileSync('/proc/cpuinfo', 'utf8') : undefined;
}
