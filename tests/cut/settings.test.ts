import { describe, expect, it } from 'vitest';
import { checkPlanSettings } from '#cutroom/cut/settings.js';
import type { PlanSettings } from '#cutroom/cut/types.js';
import { makeSettings } from './plan-manifest.js';

describe('checkPlanSettings()', () => {
  it.each<[Partial<PlanSettings>, string]>([
    [{ maxDurationSeconds: 0 }, 'maxDurationSeconds must be greater than 0, but is 0'],
    [{ maxDurationSeconds: -1 }, 'maxDurationSeconds'],
    [{ maxDurationSeconds: Number.NaN }, 'maxDurationSeconds must be greater than 0, but is NaN'],
    [{ maxDurationSeconds: Infinity }, 'maxDurationSeconds'],
    [{ minDurationSeconds: -1 }, 'minDurationSeconds must be 0 or more'],
    [{ minDurationSeconds: 10, maxDurationSeconds: 5 }, 'minDurationSeconds 10 is greater than maxDurationSeconds 5'],
    [{ minOverlapSeconds: Number.NaN }, 'minOverlapSeconds must be a finite number'],
    [{ maxSegmentGapSeconds: -0.1 }, 'maxSegmentGapSeconds must be 0 or more'],
    [{ ngramN: 0 }, 'ngramN must be a whole number of 1 or more'],
    [{ ngramN: 1.5 }, 'ngramN'],
    [{ ngramMaxCount: 0 }, 'ngramMaxCount must be a whole number of 1 or more'],
    [{ targetSampleRate: 0 }, 'targetSampleRate must be a whole number of 1 or more'],
    [{ audioFilepathKey: 'id' }, 'audioFilepathKey cannot be "id"'],
    [{ audioFilepathKey: '' }, 'audioFilepathKey cannot be ""'],
    [{ audioDir: undefined }, 'audioDir is needed with audioPathResolution "basename"'],
  ])('refuses %j', (changes, message) => {
    expect(() => checkPlanSettings(makeSettings(changes))).toThrow(RangeError);
    expect(() => checkPlanSettings(makeSettings(changes))).toThrow(message);
  });

  it.each<[Partial<PlanSettings>]>([
    [{}],
    [{ minDurationSeconds: 0, maxSegmentGapSeconds: 0 }],
    [{ minDurationSeconds: 30 }],
    [{ minOverlapSeconds: -1 }],
    [{ audioDir: undefined, audioPathResolution: 'as_is' }],
  ])('takes %j', (changes) => {
    expect(() => checkPlanSettings(makeSettings(changes))).not.toThrow();
  });
});
