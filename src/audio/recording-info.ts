/** What is known of a recording before its audio is decoded. */
export interface RecordingInfo {
  /** Hz. */
  sampleRate: number;
  channels: number;
  container: string;
  codec: string;
}
