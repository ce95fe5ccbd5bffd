/** Decodes the sound of a video into WAV files on the time line of the picture. */
import { join } from 'node:path';
import { LIMITS } from '../../protocol/limits.ts';
import type { Work } from '../engine.ts';
import type { Programs } from '../programs.ts';
import { DECODER_LIMITS, fileAddress, QUIET, untrustedInput } from './arguments.ts';

/** The format of the stems. RNNoise supports only this rate. */
export const STEM_FORMAT = { sampleRate: 48_000, channels: 2 } as const;
/** The format for speech detection and recognition. */
export const SPEECH_FORMAT = { sampleRate: 16_000, channels: 1 } as const;

interface DecodedAudio {
  /** 48 kHz stereo. */
  readonly stereo: string;
  /** 16 kHz mono. */
  readonly mono: string;
}

/**
 * Decodes the first audio stream of a video into the work folder. Sample 0 is the start of the video. A late start and
 * gaps in the sound are filled with silence.
 */
export async function decodeAudio(programs: Programs, video: string, work: Work): Promise<DecodedAudio> {
  const stereo = join(work.folder, 'mix.wav');
  const mono = join(work.folder, 'mix-16k.wav');
  // A forged header must not fill the disk: nothing after the longest allowed duration is decoded.
  const bound = ['-t', String(LIMITS.videoSeconds + 1)];
  const args = [
    ...QUIET,
    ...untrustedInput(video),
    ...output(stereo, STEM_FORMAT, bound),
    ...output(mono, SPEECH_FORMAT, bound),
  ];
  await programs.run('ffmpeg', args, { ...work, limits: DECODER_LIMITS });
  return { stereo, mono };
}

function output(
  path: string,
  format: { sampleRate: number; channels: number },
  bound: readonly string[],
): string[] {
  return [
    ...['-map', '0:a:0', ...bound, '-af', `aresample=${format.sampleRate}:async=1:first_pts=0`],
    ...['-ac', String(format.channels), '-c:a', 'pcm_s16le'],
    // Do not copy tags of the video into the WAV files.
    ...['-map_metadata', '-1', '-fflags', '+bitexact', '-f', 'wav', fileAddress(path)],
  ];
}
