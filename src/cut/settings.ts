import { createHash } from 'node:crypto';
import type { PackLimits } from './pack.js';
import type { PlanSettings } from './types.js';
import { toMicros } from '../audio/times.js';

/** Changes whenever equal settings and input would give another plan. */
const PLAN_FORMAT = 1;

/** Fields of a row that `cutroom cut` writes itself: none of them can hold the audio path. */
const OWN_FIELDS = new Set(['id', 'snippet_id', 'duration', 'segments', 'text']);

/** The limits of a plan in whole microseconds. */
export interface PlanLimits extends PackLimits {
  minOverlapMicros: number;
}

/**
 * Checks settings that a caller may have got wrong.
 *
 * @throws RangeError that names the setting
 */
export function checkPlanSettings(settings: PlanSettings): void {
  const { maxDurationSeconds, minDurationSeconds, maxSegmentGapSeconds } = settings;
  checkNumber(settings, 'maxDurationSeconds', 'greater than 0', (value) => value > 0);
  checkNumber(settings, 'minDurationSeconds', '0 or more', (value) => value >= 0);
  if (minDurationSeconds > maxDurationSeconds) {
    throw new RangeError(
      `minDurationSeconds ${minDurationSeconds} is greater than maxDurationSeconds ${maxDurationSeconds}`,
    );
  }
  checkNumber(settings, 'minOverlapSeconds', 'a finite number', () => true);
  checkNumber(settings, 'maxSegmentGapSeconds', '0 or more', () => maxSegmentGapSeconds >= 0);
  for (const name of ['ngramN', 'ngramMaxCount', 'targetSampleRate'] as const) {
    checkNumber(settings, name, 'a whole number of 1 or more', (value) => Number.isSafeInteger(value) && value >= 1);
  }
  const { audioFilepathKey, audioPathResolution, audioDir } = settings;
  if (audioFilepathKey === '' || OWN_FIELDS.has(audioFilepathKey)) {
    throw new RangeError(`audioFilepathKey cannot be ${JSON.stringify(audioFilepathKey)}`);
  }
  if (audioPathResolution !== 'as_is' && audioDir === undefined) {
    throw new RangeError(`audioDir is needed with audioPathResolution ${JSON.stringify(audioPathResolution)}`);
  }
}

function checkNumber(
  settings: PlanSettings,
  name: keyof PlanSettings,
  wanted: string,
  isValid: (value: number) => boolean,
): void {
  const value = settings[name];
  if (typeof value === 'number' && Number.isFinite(value) && isValid(value)) return;
  throw new RangeError(`${name} must be ${wanted}, but is ${String(value)}`);
}

export function limitsOf(settings: PlanSettings): PlanLimits {
  return {
    minDurationMicros: toMicros(settings.minDurationSeconds),
    maxDurationMicros: toMicros(settings.maxDurationSeconds),
    maxGapMicros: toMicros(settings.maxSegmentGapSeconds),
    minOverlapMicros: toMicros(settings.minOverlapSeconds),
  };
}

/**
 * SHA-256, in hex, of everything that decides a plan: the settings that take effect, the manifest's content and the tokenizer's.
 */
export function hashPlan(
  settings: PlanSettings,
  inputSha256: string,
  tokenizerFingerprint: string | undefined,
): string {
  const { repetitionFilter: isFiltering } = settings;
  // Spelled out in a fixed order: the hash must not change with the order in which a caller wrote the settings.
  const deciding = {
    format: PLAN_FORMAT,
    inputSha256,
    audioDir: settings.audioPathResolution === 'as_is' ? null : (settings.audioDir ?? null),
    audioFilepathKey: settings.audioFilepathKey,
    audioPathResolution: settings.audioPathResolution,
    maxDurationSeconds: settings.maxDurationSeconds,
    minDurationSeconds: settings.minDurationSeconds,
    minOverlapSeconds: settings.minOverlapSeconds,
    maxSegmentGapSeconds: settings.maxSegmentGapSeconds,
    repetition: isFiltering ? [settings.ngramN, settings.ngramMaxCount, tokenizerFingerprint ?? null] : null,
    targetSampleRate: settings.targetSampleRate,
    outputFormat: settings.outputFormat,
    onClash: settings.onClash,
  };
  return createHash('sha256').update(JSON.stringify(deciding)).digest('hex');
}
