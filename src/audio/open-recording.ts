import { accessSync, constants as fsConstants, statSync } from 'node:fs';
import { AV_DISPOSITION_ATTACHED_PIC, AV_LOG_QUIET, AVMEDIA_TYPE_AUDIO, AVMEDIA_TYPE_VIDEO } from 'node-av/constants';
import { Codec, CodecContext, Dictionary, FormatContext, Log } from 'node-av/lib';
import type { Stream } from 'node-av/lib';
import { errorMessage, systemCode } from '../errors.js';
import { AudioError, codecMessage } from './audio-error.js';
import { MAX_CHANNELS } from './channel-weights.js';

/** Containers that hold audio by themselves. Playlists, image sequences and devices are left out on purpose. */
const CONTAINERS =
  'wav,w64,flac,mp3,ogg,mov,matroska,aac,aiff,au,caf,wv,amr,ac3,eac3,ape,tta,asf,avi,mpegts,mpeg,flv,dsf,iff,voc,' +
  'nistsphere,sox,tak,mpc';

/** The WAV demuxer's own packets are so small that the calls for each would cost more than the audio. */
export const WAV_PACKET_BYTES = 1 << 14;

/** Packets of a WAV that are searched for DTS in the guise of PCM; the demuxer's own 5 MB cost more than the decoding. */
const WAV_PROBE_PACKETS = 2;

/** Refuses what is not a regular file with something in it that may be read. */
export function checkFile(path: string): void {
  try {
    const facts = statSync(path);
    if (!facts.isFile()) throw new AudioError('unreadable_recording', path, 'it is not a regular file');
    if (facts.size === 0) throw new AudioError('empty_recording', path, 'the file is empty');
    accessSync(path, fsConstants.R_OK);
  } catch (error) {
    if (error instanceof AudioError) throw error;
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new AudioError('missing_recording', path, 'there is no such file', { cause: error });
    }
    throw new AudioError('unreadable_recording', path, errorMessage(error), { cause: error });
  }
}

/** Opens local files alone: a path is never taken for an address, a playlist or a device. */
export function openContainer(path: string, isWav: boolean, isLengthUnknown: boolean): FormatContext {
  Log.setLevel(AV_LOG_QUIET);
  const container = new FormatContext();
  container.allocContext();
  const options = Dictionary.fromObject({
    protocol_whitelist: 'file',
    format_whitelist: CONTAINERS,
    ...(isWav
      ? { max_size: WAV_PACKET_BYTES, max_probe_packets: WAV_PROBE_PACKETS, ignore_length: isLengthUnknown ? 1 : 0 }
      : {}),
  });
  const opened = container.openInputSync(`file:${path}`, null, options);
  options.free();
  if (opened < 0)
    throw new AudioError('not_audio', path, `not an audio file that can be decoded (${codecMessage(opened)})`);
  const probed = container.findStreamInfoSync();
  if (probed < 0) {
    container.closeInputSync();
    throw new AudioError('not_audio', path, `no stream could be identified (${codecMessage(probed)})`);
  }
  return container;
}

/** The audio stream of a file that has one and no video. */
export function onlyAudioStream(path: string, container: FormatContext): Stream {
  const { streams } = container;
  const audio = streams.filter((stream) => stream.codecpar.codecType === AVMEDIA_TYPE_AUDIO);
  const [only] = audio;
  if (only === undefined) throw new AudioError('not_audio', path, 'it holds no audio stream');
  const hint = 'Extract the audio stream that the transcript belongs to into a file of its own.';
  if (audio.length > 1) {
    throw new AudioError('ambiguous_streams', path, `it holds ${audio.length} audio streams`, { hint });
  }
  const isPicture = (stream: Stream): boolean => (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) !== 0;
  if (streams.some((stream) => stream.codecpar.codecType === AVMEDIA_TYPE_VIDEO && !isPicture(stream))) {
    throw new AudioError('ambiguous_streams', path, 'it is a video with an audio track', { hint });
  }
  return only;
}

/** Sets up the decoder of a stream. */
export function openDecoder(path: string, stream: Stream): CodecContext {
  const { codecpar } = stream;
  if (codecpar.codecTagString === 'enca') throw new AudioError('encrypted', path, 'its audio is encrypted');
  if (codecpar.channels > MAX_CHANNELS) {
    throw new AudioError(
      'not_audio',
      path,
      `it has ${codecpar.channels} channels, and at most ${MAX_CHANNELS} are read`,
    );
  }
  const codec = Codec.findDecoder(codecpar.codecId);
  if (codec === null) throw new AudioError('not_audio', path, 'there is no decoder for its audio');
  const decoder = new CodecContext();
  decoder.allocContext3(codec);
  decoder.parametersToContext(codecpar);
  decoder.pktTimebase = stream.timeBase;
  decoder.threadCount = 1;
  // Frames of FLAC carry checksums, which tell of damage that would be heard as noise.
  if (codec.name === 'flac') decoder.setOption('err_detect', 'crccheck+explode');
  const opened = decoder.open2Sync(codec);
  if (opened < 0 || decoder.sampleRate <= 0 || decoder.channels <= 0) {
    const state = opened < 0 ? codecMessage(opened) : 'its header gives no rate or channels';
    decoder.freeContext();
    throw new AudioError('not_audio', path, state);
  }
  return decoder;
}
