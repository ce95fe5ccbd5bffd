/** Files that have only sound: their format, and how long they are. */
import { open } from 'node:fs/promises';
import type { SoundFormat } from '../../base/sound-formats.ts';
import { PreparationFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun } from '../work.ts';
import type { VideoFacts } from './facts.ts';
import { breaksOffAt, COPY_AGAIN, readLongPackets } from './packets.ts';

/** The format of a file that has only sound; null for one with a picture, and for all other containers. */
export function soundFormatOf({
  demuxer,
  picture,
  tracks,
}: Pick<VideoFacts, 'demuxer' | 'picture' | 'tracks'>): SoundFormat | null {
  const [track] = tracks;
  if (picture !== null || track === undefined) return null;
  if (demuxer === 'mp3' || demuxer === 'aac' || demuxer === 'wav' || demuxer === 'flac') return demuxer;
  if (demuxer.includes('mov')) return 'm4a';
  if (demuxer !== 'ogg') return null;
  return track.codec === 'opus' ? 'opus' : 'ogg';
}

/**
 * Measures a file that has only sound by its packets, in seconds: the headers of many contain no duration, or an estimate.
 * @throws PreparationFailure MEDIA_CORRUPT for one that is cut off or has no sound
 */
export async function soundSeconds(
  programs: Programs,
  file: string,
  facts: VideoFacts,
  run: EngineRun,
): Promise<number> {
  const declared = await readDeclared(file, facts);
  const { demuxer, startSeconds, tracks } = facts;
  let end = 0;
  await readLongPackets(programs, file, { demuxer, containerSeconds: null }, run, ({ at, lasts, stream }) => {
    if (tracks.some(({ index }) => index === stream)) end = Math.max(end, at + lasts);
  });
  const first = Math.max(0, startSeconds);
  if (breaksOffAt(declared, { at: end, lasts: 0 }, first) !== null) {
    const message = `the sound breaks off at ${end.toFixed(1)} s of ${declared?.toFixed(1)} s: the file is incomplete`;
    throw new PreparationFailure('MEDIA_CORRUPT', message, COPY_AGAIN);
  }
  const seconds = end - first;
  if (seconds > 0) return seconds;
  throw new PreparationFailure('MEDIA_CORRUPT', 'the file has no sound: it lasts 0 s', COPY_AGAIN);
}

/** An ID3 tag in front of the sound: `ID3`, two bytes of version, one of flags, and its size in four times seven bits. */
const ID3_BYTES = 10;
/** The first frame of an MP3 has the header of its encoder after at most 36 bytes. */
const FIRST_FRAME_BYTES = 64;
/** Sizes in the header of a WAV that was written without knowing its end. */
const UNKNOWN_SIZES: readonly number[] = [0, 0xff_ff_ff_ff];
const RIFF_BYTES = 8;

/** The duration that the header states, in seconds; null without one, where ffprobe would estimate. @throws PreparationFailure */
async function readDeclared(
  file: string,
  { demuxer, bytes, containerSeconds }: VideoFacts,
): Promise<number | null> {
  if (demuxer === 'flac') return containerSeconds;
  // The chapters of an M4A may be longer than its sound.
  if (demuxer !== 'mp3' && demuxer !== 'wav') return null;
  const handle = await open(file);
  try {
    const read = async (at: number, length: number) =>
      (await handle.read(Buffer.alloc(length), 0, length, at)).buffer;
    const head = await read(0, ID3_BYTES);
    if (demuxer === 'mp3') {
      const size = [...head.subarray(6)].reduce((sum, byte) => sum * 128 + byte, 0);
      const start = head.toString('latin1', 0, 3) === 'ID3' ? ID3_BYTES + size : 0;
      const frame = (await read(start, FIRST_FRAME_BYTES)).toString('latin1');
      return /Xing|Info/.test(frame) ? containerSeconds : null;
    }
    const stated = head.readUInt32LE(4);
    const missing = UNKNOWN_SIZES.includes(stated) ? 0 : stated + RIFF_BYTES - bytes;
    if (missing <= 0 || head.toString('latin1', 0, 4) !== 'RIFF') return null;
    const message = `the last ${missing} bytes of the sound are missing: the file is incomplete`;
    throw new PreparationFailure('MEDIA_CORRUPT', message, COPY_AGAIN);
  } finally {
    await handle.close();
  }
}
