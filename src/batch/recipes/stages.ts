/**
 * The recipe of a localization in stages: one video in one language. The run carries it out, and the dry run asks it with what the
 * records know. Its jobs for the video as a whole have the same ids in all languages, and are shared.
 */

import { isCopied } from '../input.ts';
import { linesStage, type StageLines, type VideoItem, videoStage } from '../inputs/stage-items.ts';
import type { BatchItem } from '../item.ts';
import { type AnyStep, type JobStep, jobOf, jobsOf } from '../run/step.ts';
import type { Terms } from '../terms.ts';

/** Lines with their language; null if it is not known. */
type StagedLines = StageLines & { readonly language: string | null };

/** Subtitles in the spoken language and in the target language; null if they are not known. */
interface KnownLines {
  readonly source: StagedLines | null;
  readonly target: StagedLines | null;
}

/** A video in one language, and the subtitles that a person brought or edited. */
export interface StagedTarget extends KnownLines {
  readonly item: VideoItem;
  /** The job whose subtitles are the result; null for the video. */
  readonly stopAfter: 'recognize' | 'translate' | null;
  /** Those of --terms; missing without. */
  readonly terms?: Terms | undefined;
}

/** Work on this machine. */
export interface StageWork extends AnyStep<StageStep> {
  /**
   * `recall`: the transcript of an earlier run, if there is one. `transcript`, `translation`: the file beside the video.
   * `compare`: another language is spoken. `check`: cues and terms are there. `fit`: the texts have fonts.
   */
  readonly does: 'recall' | 'transcript' | 'compare' | 'translation' | 'check' | 'fit' | 'stop' | 'export';
}

export type StageJob = JobStep<StageWork>;
export type StageStep = StageJob | StageWork;

export interface StageResult extends StageWork {
  /** The item that is finished with it. */
  readonly goal: BatchItem;
}

/** Gets the subtitles that the jobs before have made. */
export type StageRecipe = (made: KnownLines) => StageResult;

/** The step of the result, before any job. */
export function firstLook(recipe: StageRecipe): StageResult {
  return recipe({ source: null, target: null });
}

/** The jobs that may be needed, in their order. Those behind others have no lines yet. */
export function listJobs(recipe: StageRecipe): readonly BatchItem[] {
  return jobsOf<StageWork>(firstLook(recipe)).map(({ part }) => part);
}

export function stagesRecipe({ item, source, target, stopAfter, terms }: StagedTarget): StageRecipe {
  if (isCopied(item.input)) return () => resultOf(stopAfter === null ? 'export' : 'stop', item, []);
  const recognize = jobOf<StageWork>(videoStage('subtitle_recognition', item), []);
  const isHeard = target === null || stopAfter === 'recognize';
  const transcript = isHeard ? work('transcript', [recognize]) : work('recall', []);
  const heard = source === null ? [transcript] : [];
  if (stopAfter === 'recognize') return () => resultOf('stop', recognize.part, heard);
  const compare = work('compare', heard);
  return (made) => {
    const spoken = source ?? made.source;
    const translation = linesStage('subtitle_translation', item, spoken, spoken?.language ?? null);
    const translate = jobOf<StageWork>(translation, [compare]);
    const check = work('check', target === null ? [work('translation', [translate])] : heard);
    if (stopAfter === 'translate') return resultOf('stop', translate.part, [check]);
    const fit = work('fit', [check]);
    const dub = jobOf<StageWork>(linesStage('dubbing', item, target ?? made.target, null, terms), [fit]);
    const separate = jobOf<StageWork>(videoStage('audio_separation', item), [fit]);
    const sound = needsBackground(item) ? [dub, separate] : [dub];
    return resultOf('export', item, isDubbed(item) ? sound : [fit]);
  };
}

function work(does: StageWork['does'], needs: readonly StageStep[]): StageWork {
  return { does, id: does, needs };
}

function resultOf(does: 'stop' | 'export', goal: BatchItem, needs: readonly StageStep[]): StageResult {
  return { ...work(does, needs), goal };
}

/** Whether the result has a dub. Otherwise it keeps the original voice. */
export function isDubbed({ fields, input }: VideoItem): boolean {
  return fields.mode !== 'subtitles_only' && !isCopied(input);
}

/** Whether a dub is mixed with the background sound without the voice, which needs a separation. */
function needsBackground({ fields }: VideoItem): boolean {
  return (fields.original_audio ?? 'background') === 'background';
}
