/** The sound of a video as WAV files on the time line of the picture. */
import { join } from 'node:path';
import { LIMITS } from '../../protocol/limits.ts';
import type { Work } from '../engine.ts';
import type { Programs } from '../programs.ts';
import { DECODER_LIMITS, fileAddress, QUIET, untrustedInput } from './arguments.ts';

/** What the stems are made in; RNNoise knows this rate alone. */
export const STEM_FORMAT = { sampleRate: 48_000, channels: 2 } as const;
/** What speech detection and recognition listen to. */
export const SPEECH_FORMAT = { sampleRate: 16_000, channels: 1 } as const;

interface DecodedAudio {
  /** 48 kHz stereo. */
  readonly stereo: string;
  /** 16 kHz mono. */
  readonly mono: string;
}

/**
 * Decodes the first sound stream of a video into the work folder. Sample 0 is the start of the video: sound that
 * begins later or has holes is filled with silence.
 */
export async function decodeAudio(programs: Programs, video: string, work: Work): Promise<DecodedAudio> {
  const stereo = join(work.folder, 'mix.wav');
  const mono = join(work.folder, 'mix-16k.wav');
  // A forged header must not fill the disk: nothing beyond the longest video is decoded.
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
    // Tags of the video have no business in our files.
    ...['-map_metadata', '-1', '-fflags', '+bitexact', '-f', 'wav', fileAddress(path)],
  ];
}
