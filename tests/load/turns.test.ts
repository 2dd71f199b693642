import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Turns } from '#cutroom/load/turns.js';

describe('Turns', () => {
  it('begins in the order of the calls, and does not wait for the ends', async () => {
    const turns = new Turns();
    const seen: string[] = [];
    const take = async (name: string, prepareMs: number, workMs: number): Promise<string> => {
      const prepare = async (): Promise<string> => {
        await sleep(prepareMs);
        seen.push(`${name} ready`);
        return name;
      };
      const begin = async (ready: string): Promise<string> => {
        seen.push(`${ready} begins`);
        await sleep(workMs);
        seen.push(`${ready} ends`);
        return ready;
      };
      return await turns.take(prepare, begin);
    };
    expect(await Promise.all([take('a', 40, 60), take('b', 0, 0), take('c', 20, 0)])).toEqual(['a', 'b', 'c']);
    expect(seen.filter((what) => what.endsWith('begins'))).toEqual(['a begins', 'b begins', 'c begins']);
    expect(seen.slice(0, 2)).toEqual(['b ready', 'c ready']);
    expect(seen.at(-1)).toBe('a ends');
  });

  it('goes on behind what fails', async () => {
    const turns = new Turns();
    const failing = turns.take(
      () => Promise.reject(new Error('not ready')),
      () => Promise.resolve(),
    );
    const wrong = turns.take(
      () => Promise.resolve(),
      () => Promise.reject(new Error('no result')),
    );
    const good = turns.take(
      () => Promise.resolve(7),
      (seven) => Promise.resolve(seven + 1),
    );
    expect(await Promise.allSettled([failing, wrong, good])).toMatchObject([
      { reason: { message: 'not ready' } },
      { reason: { message: 'no result' } },
      { value: 8 },
    ]);
  });
});
