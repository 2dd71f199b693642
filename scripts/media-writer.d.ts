/** A track of audio: what is handed to `write`, and what it becomes. */
export interface AudioTrackOptions {
  /** Name of an FFmpeg encoder: `flac`, `libmp3lame`, `libopus`, `pcm_s16le`, … */
  codec: string;
  /** Hz, of the samples handed over. */
  sampleRate: number;
  /** Interleaved channels of the samples handed over. */
  channels: number;
  /** `s16` (default) for `Int16Array`, `s32` for `Int32Array` with the value in the upper bits, `f32` for `Float32Array`. */
  input?: 's16' | 's32' | 'f32';
  /** Hz of the file, where it is not that of the samples. */
  encodeRate?: number;
  /** Channels of the file, where they are not those of the samples: libswresample mixes them. */
  encodeChannels?: number;
  /** Bits a second. */
  bitRate?: number;
  /** Variable bit rate: the encoder's own scale of quality, in place of `bitRate`. */
  quality?: number;
  /** Significant bits of a sample, for lossless encoders fed with `s32`. */
  bitsPerSample?: number;
  /** Private options of the encoder. */
  options?: Record<string, string>;
}

/** A track of plain grey pictures. */
export interface VideoTrackOptions {
  /** `mpeg4` or `mjpeg`. */
  codec: string;
  /** Pixels; even. */
  width: number;
  /** Pixels; even. */
  height: number;
  picturesPerSecond: number;
}

export interface MediaWriterOptions {
  /** Short name of an FFmpeg muxer: `flac`, `mp3`, `ogg`, `opus`, `ipod` (m4a), `mp4`, `webm`, `matroska`, `wav`, … */
  container: string;
  tracks: (AudioTrackOptions | VideoTrackOptions)[];
  /** Private options of the muxer, such as `write_xing` or `serial_offset`. */
  muxerOptions?: Record<string, string>;
}

/** Writes one file of encoded audio (and, for tests, video), the same bytes each time. */
export class MediaWriter {
  /** Creates the file, replacing one that is there. */
  constructor(filePath: string, options: MediaWriterOptions);
  /** Appends interleaved samples of whole frames to an audio track (the first by default). */
  write(samples: Int16Array | Int32Array | Float32Array, trackIndex?: number): void;
  /** Appends a picture to a video track. */
  writePicture(trackIndex: number): void;
  /** Flushes the encoders and completes the file; the writer is of no use afterwards. */
  close(): void;
}
