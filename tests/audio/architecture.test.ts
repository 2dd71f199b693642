import { arch } from 'node:os';
import { describe, expect, it } from 'vitest';
import { audioArchitecture } from '#cutroom/audio/architecture.js';

describe('audioArchitecture()', () => {
  it.skipIf(arch() !== 'x64')('tells old processors of x64 from those with AVX2 and FMA', () => {
    expect(audioArchitecture('processor\t: 0\nflags\t\t: fpu sse4_2 avx avx2 fma bmi2\n')).toBe('x64');
    expect(audioArchitecture('processor\t: 0\nflags\t\t: fpu sse4_2 avx fma\n')).toBe('x64 without avx2');
    expect(audioArchitecture('processor\t: 0\nflags\t\t: fpu sse4_2\n')).toBe('x64 without avx2 and fma');
  });

  it('is the CPU architecture where nothing more is known', () => {
    expect(audioArchitecture(undefined).startsWith(arch())).toBe(true);
  });
});
