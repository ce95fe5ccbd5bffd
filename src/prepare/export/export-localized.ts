/** The last step of a staged localization: exports picture, dub, background and subtitles into one MP4. */
import type { Subtitle, Work } from '../../engines/engine.ts';
import { type ExportAudio, type ExportTask, exportVideo } from '../../engines/export/export.ts';
import { outlineSound, type SoundOutline } from '../../engines/media/peaks.ts';
import type { Programs } from '../../engines/programs.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { convert, planConversion } from '../conversion/convert.ts';
import { requireWhole } from '../conversion/wholeness.ts';
import { explaining, PreparationFailure } from '../failure.ts';
import { readFacts } from '../media/facts.ts';

/** What there is to put together. Paths are files on this disk. */
export interface LocalizedParts {
  readonly video: string;
  /** Number of the audio track, from 1, of a video that the export must convert first; null for one as it is. */
  readonly track: number | null;
  /** Of the dub, a WAV; null keeps the original sound. */
  readonly dub: string | null;
  /** The WAVs of the separation; null where the original sound is lowered or muted. */
  readonly separated: { readonly vocals: string; readonly background: string } | null;
  /** In the target language. */
  readonly subtitle: Subtitle;
}

export type ExportOptions = Pick<ExportTask, 'subtitleOutput' | 'resolution'> & {
  readonly originalAudio: Extract<ExportAudio, { type: 'dubbed' }>['originalAudio'];
};

/**
 * Writes the MP4 into the work folder as the service's own export does: the picture is copied when nothing has to be done
 * to it, and the length is that of the video.
 * @returns its path
 * @throws PreparationFailure; JobFailure for a video that cannot be read
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
  return { type: 'dubbed', dub, background, originalAudio, speechDecibels };
}

/** The video as the service has seen it: the export reads the same containers, and takes the first audio track. */
async function makeReady(programs: Programs, { video, track }: LocalizedParts, work: Work): Promise<string> {
  if (track === null) return video;
  const facts = await readFacts(programs, video, work);
  const plan = planConversion(facts, { audioTrack: track });
  if (plan.type === 'impossible')
    throw new PreparationFailure('MEDIA_UNSUPPORTED', plan.message, plan.advice);
  await requireWhole(programs, video, { facts, track: plan.track }, work);
  return convert(programs, video, facts, plan, { ...work, report: () => undefined });
}

/** Below this level a voice has paused; what a separation leaves in pauses is not speech. */
const PAUSE_DECIBELS = -55;

/**
 * The mean level of the voice during cues, without pauses, to which the dub is raised or lowered.
 * @returns decibels below full scale; null without a voice
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
