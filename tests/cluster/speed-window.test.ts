import { describe, expect, it } from 'vitest';
import { SpeedWindow } from '#cutroom/cluster/speed-window.js';

describe('SpeedWindow', () => {
  it('tells nothing of the first moments', () => {
    const speed = new SpeedWindow();
    expect(speed.add(100, 5_000)).toBe(0);
    expect(speed.add(200, 6_000)).toBe(0);
    expect(speed.add(400, 8_000)).toBe(100);
  });

  it('forgets what is more than two minutes ago', () => {
    const speed = new SpeedWindow();
    speed.add(0, 0);
    for (let second = 10; second <= 300; second += 10) speed.add(second * 100, second * 1000);
    expect(speed.add(30_000, 420_000)).toBe(0);
    expect(speed.add(32_000, 430_000)).toBeCloseTo(2_000 / 130, 9);
  });

  it('is not below 0 where a task began anew', () => {
    const speed = new SpeedWindow();
    speed.add(500, 0);
    expect(speed.add(400, 4_000)).toBe(0);
  });
});
