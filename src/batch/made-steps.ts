/** The steps by which a localized video was made, from its records. Pure. */
import type { JobKind } from '../protocol/kind-names.ts';
import { linesStage, type VideoItem, videoStage } from './inputs/stage-items.ts';
import type { BatchItem } from './item.ts';
import type { ItemProvenance } from './item-provenance.ts';
import type { BatchRecords } from './records/batch-records.ts';

type Uses = ItemProvenance['engines'];

export interface MadeStep {
  readonly step: 'recognize' | 'translate' | 'speak' | 'separate';
  /** `given file`: subtitles that no job has made. */
  readonly by: 'machine' | 'given file';
  /** Names; null if the service does not say them, and for a given file. */
  readonly engine: string | null;
  /** The subtitles that a person may have edited, and those of the job, absolute; missing for others. */
  readonly file?: { readonly path: string; readonly made: string };
}

interface Records extends Pick<BatchRecords, 'attempts' | 'stages'> {
  provenanceOf(key: string): ItemProvenance | null;
}

/** Those of a video that one job, or the jobs of its parts, have made. */
export function stepsOfJob({ attempts, provenanceOf }: Records, item: BatchItem): readonly MadeStep[] {
  const uses = provenanceOf(attempts.byItem.get(item.key)?.at(-1) ?? '')?.engines ?? null;
  const spoken = isSpoken(item) ? (['speak'] as const) : [];
  const steps = ['recognize', 'translate', ...spoken] as const;
  const separated = uses?.some(({ step }) => step === 'separate') === true ? (['separate'] as const) : [];
  return [...steps, ...separated].map((step) => ({ step, by: 'machine', engine: nameEngine(uses, step) }));
}

/** The subtitles of a video in stages, relative to the output folder; null if they were not needed. */
interface StageFiles {
  readonly source: string | null;
  readonly target: string | null;
}

/** Those of a video in stages. @param at makes a path absolute */
export function stepsOfStages(
  records: Records,
  item: VideoItem,
  { source, target }: StageFiles,
  at: (path: string) => string,
): readonly MadeStep[] {
  const { attempts, stages } = records;
  const attemptOf = (stage: BatchItem) => attempts.byKey.get(attempts.byItem.get(stage.key)?.at(-1) ?? '');
  const made = (step: MadeStep['step'], kind: JobKind): MadeStep[] => {
    const attempt = attemptOf(stageOf(kind, item));
    if (attempt === undefined) return [];
    return [
      { step, by: 'machine', engine: nameEngine(records.provenanceOf(attempt.key)?.engines ?? null, step) },
    ];
  };
  const text = (step: MadeStep['step'], kind: JobKind, path: string | null): MadeStep[] => {
    if (path === null) return [];
    // It has written them, though a person may have edited them since.
    const own = stages.subtitles.has(path) ? made(step, kind) : [];
    const before = attemptOf(stageOf(kind, item))?.files[0]?.path;
    if (own.length === 0 || before === undefined) return [{ step, by: 'given file', engine: null }];
    return own.map((each) => ({ ...each, file: { path: at(path), made: before } }));
  };
  const sound = isSpoken(item) ? [...made('speak', 'dubbing'), ...made('separate', 'audio_separation')] : [];
  return [
    ...text('recognize', 'subtitle_recognition', source),
    ...text('translate', 'subtitle_translation', target),
    ...sound,
  ];
}

/** The engines of the steps, as a mark has them; null if the service does not say any. */
export function enginesOf(steps: readonly MadeStep[]) {
  const known = steps.flatMap(({ step, engine }) => (engine === null ? [] : [{ step, engine }]));
  const isAsked = steps.some(({ by }) => by === 'machine');
  return isAsked && known.length === 0 ? null : known;
}

/** The language that the recognition of a video in stages has found; null if it found none, and in one job. */
export function recognizedLanguage({ attempts }: Records, item: BatchItem): string | null {
  if (item.input.type !== 'file') return null;
  const { key } = videoStage('subtitle_recognition', { ...item, input: item.input });
  return attempts.byKey.get(attempts.byItem.get(key)?.at(-1) ?? '')?.language ?? null;
}

function isSpoken({ fields }: BatchItem): boolean {
  return fields.mode !== 'subtitles_only';
}

function stageOf(kind: JobKind, item: VideoItem): BatchItem {
  return kind === 'subtitle_translation' || kind === 'dubbing'
    ? linesStage(kind, item, null)
    : videoStage(kind === 'audio_separation' ? kind : 'subtitle_recognition', item);
}

function nameEngine(uses: Uses | null, step: MadeStep['step']): string | null {
  const names = (uses ?? []).filter((use) => use.step === step).map(({ engine }) => engine);
  return names.length === 0 ? null : [...new Set(names)].join(' and ');
}
