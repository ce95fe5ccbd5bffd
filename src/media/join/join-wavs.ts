/** Joins the WAV results of parts into one. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { createWav } from '../audio/wav.ts';
import { explaining } from '../failure.ts';
import { PCM } from '../probe/codecs.ts';
import type { ProgramRun } from '../probe/source.ts';
import { DECODER_LIMITS, fileAddress, ownInput, QUIET } from '../programs/arguments.ts';
import type { Programs } from '../programs/programs.ts';
import type { Work } from '../work.ts';
import { appendPieces, type Piece } from './pieces.ts';

export interface WavResult {
  readonly path: string;
  /** Start of the part in the whole video, in seconds. */
  readonly startSeconds: number;
}

/**
 * Writes one 16-bit WAV with the sample rate and channels of the first part.
 * @param endSeconds length of the whole
 * @param manner `cut` for stems of a video, which are as long as the parts of the video; `overlap` for dubs
 * @returns the path of `NAME` in the work folder
 */
export async function joinWavs(
  programs: Programs,
  results: readonly WavResult[],
  task: { readonly endSeconds: number; readonly manner: 'cut' | 'overlap'; readonly name: string },
  work: Work,
): Promise<string> {
  const first = results[0];
  if (first === undefined) throw new Error('there are no parts to join');
  return explaining('the sound of the parts cannot be joined', async () => {
    const format = await readFormat(programs, first.path, work);
    const sample = (seconds: number) => Math.round(seconds * format.sampleRate);
    const pieces: Piece[] = [];
    for (const [index, { path, startSeconds }] of results.entries()) {
      const decoded = join(work.folder, `piece-${index}.wav`);
      const sound = ['-map', '0:a:0', '-ar', String(format.sampleRate), '-ac', String(format.channels)];
      const args = [...QUIET, ...ownInput(path, 'wav'), ...sound, ...PCM, fileAddress(decoded)];
      await programs.run('ffmpeg', args, { ...work, limits: DECODER_LIMITS });
      const end = results[index + 1]?.startSeconds ?? task.endSeconds;
      pieces.push({ path: decoded, frames: sample(end) - sample(startSeconds) });
      work.report((index + 1) / (results.length + 1));
    }
    const path = join(work.folder, task.name);
    const out = await createWav(path, format);
    await appendPieces(pieces, task.manner, out).finally(() => out.close());
    await Promise.all(pieces.map((piece) => rm(piece.path)));
    return path;
  });
}

const FormatSchema = v.object({
  streams: v.tuple([
    v.object({ sample_rate: v.pipe(v.string(), v.transform(Number)), channels: v.number() }),
  ]),
});

async function readFormat(programs: Programs, path: string, run: ProgramRun) {
  const show = ['-select_streams', 'a:0', '-show_entries', 'stream=sample_rate,channels', '-of', 'json'];
  const json = await programs.run('ffprobe', ['-v', 'error', ...show, ...ownInput(path, 'wav')], run);
  const schema = v.pipe(v.string(), v.parseJson(), FormatSchema);
  const [{ sample_rate, channels }] = v.parse(schema, json.toString('utf8')).streams;
  return { sampleRate: sample_rate, channels };
}
