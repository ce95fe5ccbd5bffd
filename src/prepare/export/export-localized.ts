/** The last step of a staged localization: exports picture, dub, background and subtitles into one MP4. */
import type { Subtitle, Work } from '../../engines/engine.ts';
import { dubGain, type ExportAudio, type ExportTask, exportVideo } from '../../engines/export/export.ts';
import { outlineSound, type SoundOutline } from '../../engines/media/peaks.ts';
import type { Programs } from '../../engines/programs.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { convert, planConversion } from '../conversion/convert.ts';
import { requireWhole } from '../conversion/wholeness.ts';
import { explaining, PreparationFailure } from '../failure.ts';
import { readFacts } from '../media/facts.ts';

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
  /** Paths of the WAVs from the separation; null if the original sound is lowered or muted. */
  readonly separated: { readonly vocals: string; readonly background: string } | null;
  /** The subtitle in the target language. */
  readonly subtitle: Subtitle;
}

export type ExportOptions = Pick<ExportTask, 'subtitleOutput' | 'resolution'> & {
  readonly originalAudio: Extract<ExportAudio, { type: 'dubbed' }>['originalAudio'];
};

/**
 * Writes the MP4 into the work folder, in the same way as the service's own export: the picture is copied if nothing in
 * it changes, and the length is the length of the video.
 * @returns the path of the MP4
 * @throws PreparationFailure
 * @throws JobFailure if the video cannot be read
 */
export function exportLocalized(
  programs: Programs,
  parts: LocalizedParts,
  wishes: ExportOptions,
  work: Work,
): Promise<string> {
  return explaining('the finished video cannot be written', async () => {
    const { subtitle } = parts;
    const { subtitleOutput, resolution } = wishes;
    const video = await makeReady(programs, parts, work);
    const sound = await soundOf(programs, parts, wishes, work);
    const task: ExportTask = { video, sound, subtitle, subtitleOutput, resolution };
    return (await exportVideo(programs, task, work)).video.path;
  });
}

async function soundOf(
  programs: Programs,
  { dub, separated, subtitle }: LocalizedParts,
  { originalAudio }: ExportOptions,
  work: Work,
): Promise<ExportAudio> {
  if (dub === null) return { type: 'original' };
  const background = separated?.background ?? '';
  if (originalAudio === 'background' && separated === null) throw new Error('the background is missing');
  const speechDecibels =
    separated === null
      ? null
      : speechLevel((await outlineSound(programs, separated.vocals, work)).loudness, subtitle.lines);
  const gainDecibels = dubGain(speechDecibels);
  return { type: 'dubbed', dub, background, originalAudio, gainDecibels };
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
  await requireWhole(programs, video, { facts, track: plan.track }, work);
  return convert(programs, video, facts, plan, { ...work, report: () => undefined });
}

/** Below this level the voice is pausing: the rest that a separation leaves in pauses is not speech. */
const PAUSE_DECIBELS = -55;

/**
 * Returns the mean level of the voice during cues, without pauses. The dub is raised or lowered to this level.
 * @returns decibels below full scale; null if there is no voice
 */
export function speechLevel(
  { stepMs, decibels }: SoundOutline['loudness'],
  lines: readonly Pick<SubtitleLine, 'start_ms' | 'end_ms'>[],
): number | null {
  let energy = 0;
  let steps = 0;
  for (const { start_ms, end_ms } of lines) {
    const during = decibels.subarray(Math.floor(start_ms / stepMs), Math.ceil(end_ms / stepMs));
    for (const level of during) {
      if (level <= PAUSE_DECIBELS) continue;
      energy += 10 ** (level / 10);
      steps += 1;
    }
  }
  return steps === 0 ? null : 10 * Math.log10(energy / steps);
}
