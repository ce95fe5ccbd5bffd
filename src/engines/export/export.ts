/** Export as the pipelines see it: picture, sound and subtitles into one MP4. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatSrt } from '../../protocol/srt.ts';
import type { Product, Subtitle, Tasks, Work } from '../engine.ts';
import { ENCODER_LIMITS, fileAddress, ownInput, QUIET, untrustedInput } from '../media/arguments.ts';
import { declaredDuration } from '../media/duration.ts';
import { readHeader } from '../media/header.ts';
import { displaySize } from '../media/inspect.ts';
import type { Programs } from '../programs.ts';
import { formatAss } from './ass.ts';
import { threeLetterCode } from './language-codes.ts';
import { type PicturePlan, planPicture, type Resolution } from './picture.ts';
import { softLines } from './soft-lines.ts';
import { dubGain, type OriginalAudio, soundGraph } from './sound.ts';

/** What the video sounds like: as before, or with a dub over what is left of the original. */
export type Sound =
  | { readonly type: 'original' }
  | {
      readonly type: 'dubbed';
      readonly dub: string;
      readonly background: string;
      readonly originalAudio: OriginalAudio;
      readonly speechDecibels: number | null;
    };

export interface ExportTask {
  readonly video: string;
  readonly sound: Sound;
  readonly subtitle: Subtitle;
  readonly subtitleOutput: Tasks['auto_localization']['subtitleOutput'];
  readonly resolution: Resolution;
}

/** Sound codecs that an MP4 may hold and players know; others become AAC. */
export const MP4_SOUND: ReadonlySet<string> = new Set(['aac', 'mp3', 'ac3', 'eac3', 'alac', 'opus']);
const AAC = ['-c:a', 'aac', '-b:a', '160k'];
/** As good as the source to the eye, at a speed of several times real time. */
const H264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '20', '-pix_fmt', 'yuv420p'];
/** In the work folder, which is ffmpeg's working folder: no path that a filter would have to quote. */
const BURNED_FILE = 'burned.ass';
const SOFT_FILE = 'soft.srt';

/**
 * Writes the finished MP4 into the work folder. Its length is the input's. The picture is copied when nothing has to be
 * done to it, so that its frames equal the original's.
 */
export async function exportVideo(
  programs: Programs,
  task: ExportTask,
  work: Work,
): Promise<{ video: Product; durationSeconds: number }> {
  const header = await readHeader(programs, task.video, work);
  const duration = declaredDuration(header);
  const burned = task.subtitleOutput === 'burned';
  const picture = planPicture(header, task.resolution, burned);
  if (burned) await writeBurned(task, picture, header.video && displaySize(header.video), work.folder);
  const lines = task.subtitleOutput === 'soft' ? softLines(task.subtitle.lines, duration) : [];
  const soft = lines.length > 0;
  if (soft) await writeFile(join(work.folder, SOFT_FILE), formatSrt(lines));
  const path = join(work.folder, 'localized.mp4');
  const copySound = MP4_SOUND.has(header.audio?.codec_name ?? '') && header.demuxer.includes('mov');
  const sound = soundArguments(task, { duration, copySound });
  const args = [
    ...QUIET,
    ...['-progress', 'pipe:1'],
    ...untrustedInput(task.video),
    ...sound.inputs,
    ...(soft ? ownInput(join(work.folder, SOFT_FILE), 'srt') : []),
    ...pictureArguments(picture, burned),
    ...sound.output,
    ...(soft ? subtitleArguments(1 + sound.inputCount, task.subtitle.language) : []),
    ...['-movflags', '+faststart', '-f', 'mp4', fileAddress(path)],
  ];
  const onLine = (line: string) => {
    const time = /^out_time_us=(\d+)/.exec(line)?.[1];
    if (time !== undefined && duration > 0) work.report(Math.min(1, Number(time) / 1e6 / duration));
  };
  await programs.run('ffmpeg', args, { ...work, onLine, limits: ENCODER_LIMITS });
  const written = await readHeader(programs, path, work);
  return { video: { path, contentType: 'video/mp4' }, durationSeconds: declaredDuration(written) };
}

function soundArguments(task: ExportTask, video: { duration: number; copySound: boolean }) {
  const { sound } = task;
  if (sound.type === 'original') {
    const codec = video.copySound ? ['-c:a', 'copy'] : AAC;
    return { inputs: [], inputCount: 0, output: ['-map', '0:a:0', ...codec] };
  }
  const { originalAudio } = sound;
  const withBackground = originalAudio === 'background';
  const inputs = [
    ...ownInput(sound.dub, 'wav'),
    ...(withBackground ? ownInput(sound.background, 'wav') : []),
  ];
  const original = { background: '2:a', duck: '0:a:0', mute: null }[originalAudio];
  const graph = soundGraph(
    originalAudio,
    { original, dub: '1:a' },
    dubGain(sound.speechDecibels),
    video.duration,
  );
  const language = threeLetterCode(task.subtitle.language);
  return {
    inputs,
    inputCount: withBackground ? 2 : 1,
    output: [
      ...['-filter_complex', graph, '-map', '[sound]', ...AAC, '-ar', '48000'],
      ...['-metadata:s:a:0', `language=${language}`],
    ],
  };
}

function pictureArguments(picture: PicturePlan, burned: boolean): string[] {
  if (picture.copy) return ['-map', '0:V:0', '-c:v', 'copy'];
  const { width, height } = picture.size;
  const filters = [`scale=${width}:${height}`, ...(burned ? [`ass=filename=${BURNED_FILE}`] : [])];
  return ['-map', '0:V:0', '-vf', filters.join(','), ...H264];
}

function subtitleArguments(input: number, language: string): string[] {
  const code = threeLetterCode(language);
  const shown = ['-disposition:s:0', 'default'];
  return ['-map', `${input}:s:0`, '-c:s', 'mov_text', '-metadata:s:s:0', `language=${code}`, ...shown];
}

async function writeBurned(
  task: ExportTask,
  picture: PicturePlan,
  shown: { width: number; height: number } | null,
  folder: string,
): Promise<void> {
  const size = picture.copy ? (shown ?? { width: 1280, height: 720 }) : picture.size;
  await writeFile(join(folder, BURNED_FILE), formatAss(task.subtitle.lines, size));
}
