/** The options of a localization in stages, with subtitles that users may provide or edit. */

import { usageFailure } from '../../base/failure.ts';
import {
  changeOption,
  choiceOption,
  factsOf,
  flagOption,
  inGroup,
  type OptionValues,
  textOption,
} from '../../base/option.ts';
import { flagName } from '../../batch/inputs/field-flags.ts';
import type { Terms } from '../../batch/terms.ts';
import type { SubtitleFormat } from '../../protocol/subtitle-line.ts';
import {
  jobTable,
  MASK_OPTION,
  MEMORY_OPTIONS,
  REDUB_OPTIONS,
  STDOUT,
  SUBTITLE_FORMAT_OPTION,
  TERMS_OPTION,
  VOICES_OPTION,
} from '../jobs/job-options.ts';
import { openVoices, type Voices } from '../jobs/voices.ts';

const STOPS = ['recognize', 'translate'] as const;

const STAGE_OPTIONS = inGroup('Subtitles and stages:', {
  stopAfter: choiceOption(
    STOPS,
    'stop after this step, leave the subtitles beside the videos to edit, and print the command that continues',
    {
      daily: true,
      argumentHelp:
        'stop after this step and leave the subtitles beside the videos for review; edit them, then continue with from_subtitles. ' +
        'The videos must be in a writable folder',
    },
  ),
  fromSubtitles: flagOption(
    'use existing subtitles beside the videos, {stem}.{lang}.srt, .vtt or .ass, instead of creating them',
    {
      daily: true,
      argumentHelp:
        'use the subtitles beside the videos, {stem}.{lang}.srt, .vtt or .ass; the videos must be in a writable folder',
    },
  ),
  subtitle: textOption(
    'file',
    'your own subtitles in the target language, for one video; skips recognition and translation',
    { tool: 'reads' },
  ),
  sourceSubtitle: textOption(
    'file',
    'your own subtitles in the spoken language, for one video; skips recognition',
    {
      tool: 'reads',
      argumentHelp:
        'your own subtitles in the spoken language, for one video in a writable folder; skips recognition',
    },
  ),
  // A default of the project would make every call of an agent write beside its video.
  terms: changeOption(TERMS_OPTION.terms, {
    help: `${factsOf(TERMS_OPTION.terms).help}; runs in stages`,
    tool: 'no',
  }),
  bilingual: choiceOption(
    ['above', 'below'],
    'show the spoken words too, above or below their translation, in soft or burned subtitles; runs in stages',
    // A default of the project, as for terms.
    { tool: 'no' },
  ),
  maskTerms: changeOption(MASK_OPTION.maskTerms, { tool: 'no' }),
  ...MEMORY_OPTIONS,
  ...REDUB_OPTIONS,
  ...SUBTITLE_FORMAT_OPTION,
  ...VOICES_OPTION,
});

/** The option table of `vloc localize`. */
export function localizeTable() {
  return { ...jobTable('auto_localization'), ...STAGE_OPTIONS };
}

/** The options of `vloc localize`, as the stages get them. */
export type StageOptions = OptionValues<ReturnType<typeof localizeTable>>;

export interface StageChoices {
  readonly stopAfter: (typeof STOPS)[number] | null;
  readonly fromSubtitles: boolean;
  /** Files as written on the command line; null without. */
  readonly subtitle: string | null;
  readonly sourceSubtitle: string | null;
  readonly format: SubtitleFormat;
  /** Null without --voices. */
  readonly voices: Voices | null;
  /** Missing without --terms. */
  readonly terms?: Terms | undefined;
}

/** Whether the options ask for stages. Without them one job does everything. */
export function asksForStages(options: StageOptions): boolean {
  const { terms, bilingual, voices } = options;
  return asksForSubtitles(options) || terms !== undefined || bilingual !== undefined || voices.length > 0;
}

/** The options that need stages for what one job would do without them. */
export function reasonsForStages({ terms, bilingual }: StageOptions): readonly string[] {
  return [terms === undefined ? [] : '--terms', bilingual === undefined ? [] : '--bilingual'].flat();
}

function asksForSubtitles({ stopAfter, fromSubtitles, subtitle, sourceSubtitle }: StageOptions): boolean {
  return fromSubtitles || [stopAfter, subtitle, sourceSubtitle].some((value) => value !== undefined);
}

/** Checks that nothing asks for stages that the others do not. @throws Failure (`usage`) */
export function requireStages({ only }: StageOptions): void {
  if (only === undefined) return;
  const message = '--only dubs lines of existing subtitles again';
  throw usageFailure('USAGE', message, 'Nothing was sent; add --from-subtitles, or leave it out.');
}

/** @throws Failure (`usage`) for options that conflict */
export function readStageChoices(options: StageOptions): StageChoices {
  const choices: StageChoices = {
    stopAfter: options.stopAfter ?? null,
    fromSubtitles: options.fromSubtitles,
    subtitle: options.subtitle ?? null,
    sourceSubtitle: options.sourceSubtitle ?? null,
    format: options.subtitleFormat ?? 'srt',
    voices: openVoices(options.voices),
  };
  const conflict = conflictOf(choices, options);
  if (conflict === null) return choices;
  const [reason] = asksForSubtitles(options) ? [] : reasonsForStages(options);
  const why = reason === undefined ? ';' : `. ${reason} works in stages only:`;
  const where = reason === undefined ? '' : ', in vloc.config.json if it is set there';
  throw usageFailure('USAGE', conflict, `Nothing was sent${why} leave one of them out${where}.`);
}

function conflictOf(
  { stopAfter, fromSubtitles, subtitle, sourceSubtitle, voices }: StageChoices,
  options: StageOptions,
): string | null {
  if (options.detach) return '--detach cannot be combined with stages: each stage waits for the previous one';
  if (options.watch) return '--watch cannot be combined with stages';
  if (options.out === STDOUT) return '--out - writes the only result of one job, and stages are several jobs';
  const forRequest = [
    ...(Object.keys(options.set).length > 0 ? ['set'] : []),
    ...(options.body === undefined ? [] : ['body']),
  ];
  const [first] = forRequest;
  if (first !== undefined)
    return `${flagName(first)} applies to one request, and a localization in stages makes several`;
  if (stopAfter !== null && options.only !== undefined)
    return `--only dubs lines again, and --stop-after ${stopAfter} stops before the dub`;
  if (subtitle !== null && sourceSubtitle !== null && options.bilingual === undefined)
    return '--source-subtitle is for a translation, and --subtitle is one already';
  if (voices !== null && !fromSubtitles && subtitle === null && sourceSubtitle === null)
    return '--voices needs subtitles that say who speaks: add --from-subtitles, --subtitle or --source-subtitle';
  if (voices !== null && options.mode === 'subtitles_only')
    return '--voices is for a dub, and --mode subtitles_only makes none';
  if (subtitle !== null && stopAfter !== null)
    return `--stop-after ${stopAfter} has nothing to stop at when the translation is given with --subtitle`;
  if (sourceSubtitle !== null && stopAfter === 'recognize')
    return '--stop-after recognize has nothing to stop at when --source-subtitle is given';
  return null;
}
