/** The last step of a staged localization: exports picture, dub, background and subtitles into one MP4. */

import { readFacts } from '../probe/facts.ts';
import { requireComplete } from '../probe/packets.ts';
import { explainFailures, PreparationFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineUse, Subtitle, Work } from '../work.ts';
import { convertVideo, planConversion } from './convert.ts';
import { type ExportAudio, type ExportTask, exportVideo } from './export.ts';

/** The files to combine. Paths are local files. */
export interface LocalizedParts {
  readonly video: string;
  /**
   * Number of the audio track, from 1, if the export must convert the video first; null if the video can be used
   * unchanged.
   */
  readonly track: number | null;
  /** Path of the dub, a WAV; null keeps the original sound. */
  readonly dub: string | null;
  /** Path of the background, a WAV from the separation; null if the original sound is lowered or muted. */
  readonly background: string | null;
  /** The subtitle in the target language. */
  readonly subtitle: Subtitle;
}

export type ExportOptions = Pick<ExportTask, 'subtitleOutput' | 'resolution'> & {
  readonly originalAudio: Extract<ExportAudio, { type: 'dubbed' }>['originalAudio'];
};

/**
 * Writes the MP4 into the work folder, in the same way as the service's own export: the picture is copied if nothing in
 * it changes, and the length is the length of the video.
 * @returns the path of the MP4, and how its picture was encoded if nobody asked for it
 * @throws PreparationFailure
 * @throws JobFailure if the video cannot be read
 */
export function exportLocalized(
  programs: Programs,
  parts: LocalizedParts,
  options: ExportOptions,
  work: Work,
): Promise<{ readonly path: string; readonly use: EngineUse | null }> {
  return explainFailures('the finished video cannot be written', async () => {
    const { subtitle } = parts;
    const { subtitleOutput, resolution } = options;
    const video = await makeReady(programs, parts, work);
    const sound = soundOf(parts, options);
    const task: ExportTask = { video, sound, subtitle, subtitleOutput, resolution };
    const exported = await exportVideo(programs, task, work);
    return { path: exported.video.path, use: exported.use };
  });
}

function soundOf({ dub, background }: LocalizedParts, { originalAudio }: ExportOptions): ExportAudio {
  if (dub === null) return { type: 'original' };
  if (originalAudio === 'background' && background === null) throw new Error('the background is missing');
  return { type: 'dubbed', dub, background: background ?? '', originalAudio };
}

/**
 * Returns the video in the form that the service received: the export reads the same containers and uses the first
 * audio track.
 */
async function makeReady(programs: Programs, { video, track }: LocalizedParts, work: Work): Promise<string> {
  if (track === null) return video;
  const facts = await readFacts(programs, video, work);
  const plan = planConversion(facts, { audioTrack: track });
  if (plan.type === 'impossible')
    throw new PreparationFailure('MEDIA_UNSUPPORTED', plan.message, plan.advice);
  await requireComplete(programs, video, facts, work);
  return convertVideo(programs, video, facts, plan, { ...work, report: () => undefined });
}
