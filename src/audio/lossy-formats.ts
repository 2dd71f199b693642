import { createHash } from 'node:crypto';
import {
  AV_CODEC_FLAG_QSCALE,
  AV_SAMPLE_FMT_FLT,
  AV_SAMPLE_FMT_FLTP,
  FF_ENCODER_LIBMP3LAME,
  FF_ENCODER_LIBOPUS,
  FF_ENCODER_LIBVORBIS,
  FF_QP2LAMBDA,
} from 'node-av/constants';
import { setInfoSamples } from './info-header.js';
import type { MuxedFormat } from './muxed-encoder.js';

/** libvorbis' scale from -1 to 10; 4 is what most tools use when nothing is asked. */
const VORBIS_QUALITY = 4;
/** Bits a second, on average, of one channel: beyond what listening tests can tell from the original, for their bandwidth. */
const OPUS_MAX_BIT_RATE = 64_000;
/** FFmpeg's own decoder misses the exact end of a file that is one page long, so pages are shorter than any useful snippet. */
const PAGE_MICROS = 200_000;
/** What libsndfile's users get who ask for nothing, ATdataset among them. */
const DEFAULT_COMPRESSION_LEVEL = 0.65;

/** Ogg Vorbis. */
export function vorbisFormat(name: string): MuxedFormat {
  return {
    title: 'Vorbis',
    codec: FF_ENCODER_LIBVORBIS,
    sampleFormat: AV_SAMPLE_FMT_FLTP,
    container: 'ogg',
    muxerOptions: oggOptions(name),
    configure: (encoder) => {
      encoder.globalQuality = VORBIS_QUALITY * FF_QP2LAMBDA;
      encoder.setFlags(AV_CODEC_FLAG_QSCALE);
    },
  };
}

/** Opus in Ogg (RFC 7845): the decoder's first samples and the last packet's padding are declared, so the length is exact. */
export function opusFormat(sampleRate: number, name: string): MuxedFormat {
  return {
    title: 'Opus',
    codec: FF_ENCODER_LIBOPUS,
    sampleFormat: AV_SAMPLE_FMT_FLT,
    container: 'ogg',
    muxerOptions: oggOptions(name),
    configure: (encoder) => {
      encoder.bitRate = BigInt(Math.min(OPUS_MAX_BIT_RATE, 16_000 + 2 * sampleRate));
    },
  };
}

/**
 * MP3 of constant bit rate, behind an Info header that tells the encoder's delay and padding, so that the length is exact.
 *
 * @param compressionLevel from 0, the best sound, to 1, the smallest file.
 */
export function mp3Format(sampleRate: number, compressionLevel: number | null): MuxedFormat {
  return {
    title: 'MP3',
    codec: FF_ENCODER_LIBMP3LAME,
    sampleFormat: AV_SAMPLE_FMT_FLTP,
    container: 'mp3',
    muxerOptions: { id3v2_version: 0, write_xing: 1 },
    completeHeader: setInfoSamples,
    configure: (encoder) => {
      encoder.bitRate = BigInt(mp3Kilobits(sampleRate, compressionLevel ?? DEFAULT_COMPRESSION_LEVEL) * 1000);
    },
  };
}

/**
 * The bit rate that libsndfile asks LAME for, in kbit/s; LAME takes the nearest that the format knows. MPEG-1 holds up to
 * 320, MPEG-2 up to 160, MPEG-2.5 up to 64. Source: libsndfile, `src/mpeg_l3_encode.c`.
 */
export function mp3Kilobits(sampleRate: number, compressionLevel: number): number {
  const [min, max] = sampleRate >= 32_000 ? [32, 320] : sampleRate >= 16_000 ? [8, 160] : [8, 64];
  return Math.trunc(max - compressionLevel * (max - min));
}

/** The serial number of an Ogg stream comes from its name. */
function oggOptions(name: string): Record<string, number> {
  const serial = createHash('sha256').update(name).digest().readUInt32LE(0) >>> 1;
  return { serial_offset: serial, page_duration: PAGE_MICROS };
}
