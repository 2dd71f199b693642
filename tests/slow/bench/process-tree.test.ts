// What the bench says of a command holds for all the processes that it starts.
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { measure } from '../../../bench/process-tree.js';

const isLinux = existsSync('/proc/self/smaps_rollup');

/** Starts a process that is busy for so many milliseconds of CPU time and then holds so many bytes for a while, and waits for it. */
function nest(cpuMs: number, bytes: number): string {
  const inner =
    `const held = Buffer.alloc(${bytes}, 1); const { cpuUsage } = process; ` +
    `while (cpuUsage().user + cpuUsage().system < ${cpuMs * 1000}); setTimeout(() => held, 1500)`;
  return `require('child_process').execFileSync(process.execPath, ['-e', ${JSON.stringify(inner)}])`;
}

describe.skipIf(!isLinux)('measure()', () => {
  it('counts the CPU time and the memory of processes below the command', async () => {
    const { cpuSeconds, wallSeconds, peakBytes } = await measure([process.execPath, '-e', nest(600, 150 << 20)]);
    expect(cpuSeconds).toBeGreaterThan(0.55);
    expect(wallSeconds).toBeGreaterThan(0.7);
    expect(peakBytes).toBeGreaterThan(150 << 20);
    const idle = await measure([process.execPath, '-e', nest(0, 1 << 20)]);
    expect(idle.cpuSeconds).toBeLessThan(cpuSeconds - 0.3);
    expect(peakBytes - idle.peakBytes).toBeGreaterThan(100 << 20);
    expect(peakBytes - idle.peakBytes).toBeLessThan(220 << 20);
  });

  it('hands over what the command prints, and its arguments as they are', async () => {
    const { stdout } = await measure([process.execPath, '-p', 'process.argv[1]', `a "b" $HOME 'c'`]);
    expect(stdout).toBe(`a "b" $HOME 'c'\n`);
  });

  it('refuses figures of a command that fails, and says why it did', async () => {
    const failing = measure([process.execPath, '-e', `console.error('no such thing'); process.exit(3)`]);
    await expect(failing).rejects.toThrow(/exit code 3: no such thing/u);
  });
});
