export type SnippetFormat = 'flac' | 'wav' | 'ogg';

/** What audio can be encoded as: `ogg` holds Vorbis, `opus` is Opus in Ogg. */
export type AudioFormat = SnippetFormat | 'mp3' | 'opus';

/** The rates in Hz that a format holds. */
export interface RateLimits {
  min: number;
  max: number;
  /** All there are, in rising order, where not every one between is held. */
  only?: readonly number[];
}

/**
 * The rates in Hz that each output format can hold: RFC 9639 §9.1.2; what 32-bit sizes of WAV leave room for; libvorbis;
 * ISO/IEC 11172-3 and 13818-3 with LAME's extension to lower ones; RFC 6716 §2.
 */
export const SAMPLE_RATES: Readonly<Record<AudioFormat, RateLimits>> = {
  flac: { min: 1, max: 655_350 },
  wav: { min: 1, max: 2_000_000 },
  ogg: { min: 1, max: 200_000 },
  mp3: {
    min: 8000,
    max: 48_000,
    only: [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000],
  },
  opus: { min: 8000, max: 48_000, only: [8000, 12_000, 16_000, 24_000, 48_000] },
};

/** Tells whether a format holds audio of that many Hz. */
export function isRateHeld(format: AudioFormat, sampleRate: number): boolean {
  const { min, max, only } = SAMPLE_RATES[format];
  return only?.includes(sampleRate) ?? (Number.isInteger(sampleRate) && sampleRate >= min && sampleRate <= max);
}

/** The rates that a format holds, in words: `8000, 12000 or 16000`, `1 to 655350`. */
export function nameRates(format: AudioFormat): string {
  const { min, max, only } = SAMPLE_RATES[format];
  if (only === undefined) return `${min} to ${max}`;
  return `${only.slice(0, -1).join(', ')} or ${only.at(-1)}`;
}
