export type SnippetFormat = 'flac' | 'wav' | 'ogg';

/** What audio can be encoded as: `ogg` holds Vorbis, `opus` is Opus in Ogg. */
export type AudioFormat = SnippetFormat | 'mp3' | 'opus';

/** The rates in Hz that each output format can hold: RFC 9639 §9.1.2; what 32-bit sizes of WAV leave room for; libvorbis. */
export const SAMPLE_RATES: Readonly<Record<SnippetFormat, { min: number; max: number }>> = {
  flac: { min: 1, max: 655_350 },
  wav: { min: 1, max: 2_000_000 },
  ogg: { min: 1, max: 200_000 },
};
