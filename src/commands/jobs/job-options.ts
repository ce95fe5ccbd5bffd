/** The options of the job commands: the fields of their kind from the table, their inputs, limits and results. */

import { stat } from 'node:fs/promises';
import { basename, dirname, extname, resolve } from 'node:path';
import type { Failure } from '../../base/failure.ts';
import {
  changeOption,
  choiceOption,
  durationOption,
  flagOption,
  inGroup,
  listOption,
  numberOption,
  type Option,
  type OptionTable,
  type OptionValues,
  pairsOption,
  textOption,
  textsOption,
} from '../../base/option.ts';
import { SOUND_EXTENSIONS } from '../../base/sound-formats.ts';
import { givesSubtitles, givesVideo } from '../../batch/inputs/delivery.ts';
import { fieldFlags, type TextFieldOption } from '../../batch/inputs/field-flags.ts';
import type { RunOptions } from '../../batch/run/batch.ts';
import type { Field } from '../../protocol/fields.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { describeInvalidPrices, parsePrices } from '../../protocol/prices.ts';
import { RESULT_FORMATS } from '../../protocol/result-formats.ts';
import { SUBTITLE_FORMATS } from '../../protocol/subtitle-line.ts';
import { invalidCallFailure } from '../context/command.ts';
import type { Io } from '../context/context.ts';
import { quoteForShell } from '../context/printed-command.ts';
import { SUBTITLE_STYLE_OPTION } from '../context/subtitle-style.ts';

/** The value of --out for stdout. */
export const STDOUT = '-';

/** Where results go; for every command that downloads results. */
const FOLDER_OPTIONS = inGroup('Output:', {
  out: textOption(
    'dir',
    'folder for the results, created if missing (default: the current one); - writes a single result to stdout',
    {
      tool: 'writes',
      daily: true,
      argumentHelp: 'folder for the results, created if missing (default: .)',
    },
  ),
  name: textOption(
    'template',
    'names of results: {stem}, {lang}, {asset}, {id} and {ext} with its dot, such as {stem}-{lang}{ext}',
    {
      tool: 'name',
      argumentHelp: 'names of results: {stem}, {lang}, {asset}, {id} and {ext} with its dot',
    },
  ),
  clobber: flagOption('replace files that exist', { daily: true }),
  skipExisting: flagOption('skip results that already exist'),
});

/** The same for commands that take ids of jobs: this machine knows where the results of its own jobs belong. */
export const JOB_DELIVERY_OPTIONS = {
  ...FOLDER_OPTIONS,
  out: changeOption(FOLDER_OPTIONS.out, {
    help: 'folder for the results (default: that of the run that created the job, else the current one)',
  }),
  asIs: flagOption(
    'download videos as the service delivers them, without --keep-audio, --keep-subtitles, --subtitle-style, --sound-only and --mark',
    {
      group: 'Output:',
    },
  ),
} as const satisfies OptionTable;

export const TIMEOUT_OPTION = inGroup('Limits:', {
  timeout: durationOption('stop waiting after this time, such as 90s, 30m or 2h; jobs continue'),
});

/** The same for commands that wait. */
const DELIVERY_OPTIONS = {
  ...FOLDER_OPTIONS,
  ...TIMEOUT_OPTION,
} as const satisfies OptionTable;

const SUBMIT_OPTIONS = inGroup('Job:', {
  detach: flagOption('print the job ids and do not wait'),
  set: pairsOption(
    'name=value',
    'set a request field that vloc does not know; JSON or text, a.b=1 for nested fields; repeatable',
    { tool: 'default' },
  ),
  body: textOption('@file', 'request fields as a JSON object, @file, or - for stdin; flags override it', {
    tool: 'default',
  }),
});

export const SUBTITLE_FORMAT_OPTION = inGroup('Subtitles and stages:', {
  subtitleFormat: choiceOption(
    SUBTITLE_FORMATS,
    'format of subtitles (default: that of the input, else srt)',
  ),
});

/** Terms that translations are checked for, and how dubs speak them. */
export const TERMS_OPTION = inGroup('Subtitles and stages:', {
  terms: textOption(
    'file',
    'warn of translations without their terms, and dub names as say writes them, by a CSV file with the columns term, one for each language, say or say:es, and note; = keeps a term, Acme* allows endings',
    {
      tool: 'reads',
      argumentHelp:
        'CSV with the columns term, one for each language, to warn of lost terms, and say, how dubs speak a name',
    },
  ),
});

export const MASK_OPTION = inGroup('Subtitles and stages:', {
  maskTerms: flagOption(
    'send {T1} for a term that is kept, and restore it; cues in which it is lost are translated again without, and charged again',
    { tool: 'default' },
  ),
});

/** Options of the translation memory. */
export const MEMORY_OPTIONS = inGroup('Subtitles and stages:', {
  memory: textOption(
    'file',
    'remember translated lines in this file, which several folders can share (default: in the folder for the results); remembered lines are not sent and not charged again',
    { tool: 'default' },
  ),
  anyMemory: flagOption('also use remembered lines of other services and engines', { tool: 'default' }),
});

/** For dubs of edited subtitles. */
export const REDUB_OPTIONS = inGroup('Subtitles and stages:', {
  whole: flagOption('after an edit, dub all lines again, not only the changed ones', { tool: 'default' }),
  only: textOption('lines', 'dub these lines again, such as 12,15-18, and put them into the existing dub'),
});

/** Names of speakers exist only in files of these formats, and only this machine can find them out. */
const SPEAKER_OPTION = inGroup('Subtitles and stages:', {
  speakers: flagOption(
    'name the speakers, as "Speaker 1"; needs --subtitle-format vtt or ass, a local file, and `vloc models install diarization`',
    { argumentHelp: 'name the speakers; needs subtitle_format vtt or ass' },
  ),
});

/** The service has no field for speakers: each has a job. */
export const VOICES_OPTION = inGroup('Subtitles and stages:', {
  voices: listOption(
    'name=voice',
    'dub the cues of each named speaker of WebVTT or ASS in a job of its own, such as anna=female,ben=male; --voice-mode is for the rest',
    { tool: 'default' },
  ),
});

/** Added to finished videos on this machine. */
const KEEP_OPTIONS = inGroup('Output:', {
  keepAudio: flagOption(
    'also keep the original sound, as a second audio track of the result; needs ffmpeg and a local file',
  ),
  keepSubtitles: flagOption(
    'also keep the subtitle tracks of the original, and in stages the recognized or given subtitles',
  ),
  oneFile: flagOption(
    'write one file for each video, such as talk.mul.mp4, with the original sound and a sound track, and soft subtitles, for each language of --to; needs ffmpeg and local files',
  ),
  default: textOption(
    'language',
    'the sound that players start with in --one-file: a language of --to, or original (default: the first of --to)',
    { tool: 'text' },
  ),
});

/** Says what of a finished video is machine-made. */
const MARK_OPTIONS = inGroup('Output:', {
  mark: flagOption(
    'also name in a tag what is machine-made in a video that a hosted service delivers; those made on this machine have it anyway',
  ),
  noMark: flagOption('leave that tag out'),
  provenance: flagOption(
    'also write {stem}.{lang}.provenance.json beside each result: hashes, engines and edited cues, for `vloc verify`',
  ),
});

/** Written of finished videos, and of sound, on this machine. */
const SOUND_OPTIONS = inGroup('Output:', {
  soundOnly: flagOption(
    'write only the sound of each result, as {stem}.{lang}.m4a instead of a video, for platforms that take separate tracks; needs ffmpeg',
  ),
  loudness: choiceOption(
    ['-14', '-16', '-23'],
    'loudness of sound in LUFS, with true peaks below -1 dBTP (default: that of the source)',
  ),
});

/** On this machine, which knows more than the field of the service. */
const STYLE_OPTION = inGroup('Subtitles and stages:', SUBTITLE_STYLE_OPTION);

/** For videos that no job takes. */
const PASS_OPTION = inGroup('Input:', {
  passThrough: flagOption('copy videos without sound into the results as they are, on this machine'),
});

/** The inputs beyond the operands. */
const INPUT_OPTIONS = inGroup('Input:', {
  watch: flagOption('process new files in the folders, once they are complete, until Ctrl-C', { tool: 'no' }),
  dryRun: flagOption('print the plan and its cost; submit nothing', { daily: true }),
  include: textsOption(
    'glob',
    'only include files in folders that match this glob, such as *.mp4; repeatable',
    { tool: 'text' },
  ),
  exclude: textsOption('glob', 'skip files in folders that match this glob; repeatable', { tool: 'text' }),
  filesFrom: textOption('file', 'read inputs from a file, one per line; - for stdin'),
  filesFrom0: textOption('file', 'the same, NUL-separated, as find -print0 writes'),
  sheet: textOption(
    'file',
    'CSV or JSON with a row for each input: file, to and other options; a row overrides the flags',
  ),
  shard: textOption(
    'i/n',
    'run only shard i of n, such as 2/3, to share the inputs among machines; --jobs and --max-credits apply to each',
    { tool: 'default' },
  ),
  order: choiceOption(
    ['given', 'size', 'name'],
    'start with the smallest inputs, or by name (default: as given, folders by name)',
    { tool: 'default' },
  ),
});

/** Limits of a run, and how it treats what was done before. */
export const RUN_OPTIONS = {
  ...inGroup('Limits:', {
    jobs: numberOption(
      'n',
      `most jobs at a time (default: ${LIMITS.concurrentTasks}, the limit of the service)`,
      { whole: true, from: 1 },
    ),
    maxCredits: numberOption('n', 'send no job that would raise the cost of this command above n credits', {
      from: 0,
      daily: true,
    }),
    price: textOption(
      'kind=credits',
      'credits for one unit, such as dubbing=2, for --max-credits with a service that does not report what jobs cost; several separated by commas',
      { tool: 'default' },
    ),
    maxDuration: durationOption(
      'send no new jobs after this time, such as 90s, 30m or 2h; running jobs are waited for',
    ),
  }),
  ...inGroup('Job:', {
    fresh: flagOption('ignore earlier results and create new jobs, charged again', { tool: 'no' }),
    retryFailed: flagOption('also retry items that failed permanently'),
    skipDone: flagOption('count what an earlier run downloaded as done, even if the file is no longer here', {
      tool: 'default',
    }),
    rebuild: flagOption(
      "also continue jobs of the service that this folder's journal does not list, such as those of other folders",
      { tool: 'no' },
    ),
  }),
} as const;

/** The option that splits inputs which are too long for one job. */
function splitOption(input: 'video' | 'subtitle') {
  const places = input === 'video' ? 'silences' : 'gaps between cues';
  const help = `split ${input}s that are too long for one job at ${places}, run each part as a job, and join the results`;
  return inGroup('Input:', { split: flagOption(help) });
}

/** Less has no pause to cut at, and nothing to judge. */
const SHORTEST_SAMPLE_MS = 5_000;

/** Subtitles have no container and no tracks, and cost little. */
const VIDEO_OPTIONS = inGroup('Input:', {
  convert: flagOption(
    'first convert videos that the service does not accept, such as MKV, WebM or TS, to MP4',
  ),
  audioTrack: numberOption('n', 'audio track to use, counted from 1', { whole: true, from: 1 }),
  sample: durationOption(
    'send only the first minute of each video, or this time, cut at a pause, and print what the whole costs; the result has .sample in its name',
    {
      preset: '60s',
      daily: true,
      from: SHORTEST_SAMPLE_MS,
      // Without a value it takes the word after it.
      expected: 'expected a time from 5s, such as 30s or 2m; for the default write --sample after the inputs',
      argumentHelp: 'send only so much of the beginning of each video',
    },
  ),
});

interface FieldOption {
  /** Name of the request field. */
  readonly field: string;
  /** Name of the option, in camel case. */
  readonly name: string;
  readonly option: Option;
}

/** One option for each request field of the kind, except the input. */
export function fieldOptions(kind: JobKind): readonly FieldOption[] {
  return fieldFlags(kind).flatMap(({ field, option: name, row }) => {
    const option = createFieldOption(row);
    if (option === null) return [];
    const changed =
      field === 'subtitle_output'
        ? changeOption(option, { group: 'Subtitles and stages:', daily: true })
        : changeOption(option, { group: 'Job:' });
    return [{ field, name, option: changed }];
  });
}

function createFieldOption(field: Field): Option | null {
  switch (field.type) {
    case 'source':
    case 'subtitle':
      return null;
    case 'language':
      return field.required
        ? listOption('tags', `${field.help}; several, separated by commas, create a job each`, {
            tool: 'text',
            daily: true,
            argumentHelp: `${field.help}; each makes a job`,
            required: true,
          })
        : textOption('tag', `${field.help} (default: ${field.default})`, { tool: 'text', daily: true });
    case 'choice':
      return choiceOption(field.choices, `${field.help} (default: ${field.default})`);
    case 'reference':
      return textOption('text', field.help, { tool: 'text' });
    case 'callback':
      return textOption('url', field.help);
  }
}

/** The options for request fields; a kind has those of its own fields only. */
type FieldTable = { readonly to?: Option<readonly string[]> } & {
  readonly [Name in TextFieldOption]?: Option<string | undefined>;
};

type JobTable = FieldTable &
  typeof INPUT_OPTIONS &
  ReturnType<typeof splitOption> &
  Partial<typeof VIDEO_OPTIONS> &
  typeof SUBMIT_OPTIONS &
  typeof RUN_OPTIONS &
  typeof DELIVERY_OPTIONS &
  Partial<typeof KEEP_OPTIONS> &
  Partial<typeof MARK_OPTIONS> &
  Partial<typeof SOUND_OPTIONS> &
  Partial<typeof STYLE_OPTION> &
  Partial<typeof PASS_OPTION> &
  Partial<typeof SUBTITLE_FORMAT_OPTION> &
  Partial<typeof TERMS_OPTION> &
  Partial<typeof MASK_OPTION> &
  Partial<typeof MEMORY_OPTIONS> &
  Partial<typeof REDUB_OPTIONS> &
  Partial<typeof SPEAKER_OPTION> &
  Partial<typeof VOICES_OPTION>;

/** The options of a job command, as the workflow gets them. */
export type JobOptions = OptionValues<JobTable>;

/** The option table of the command of a kind. */
export function jobTable(kind: JobKind): JobTable {
  const fields = fieldOptions(kind).map(({ name, option }) => [name, option] as const);
  return {
    ...(Object.fromEntries(fields) as FieldTable), // one row for each field of the kind
    ...INPUT_OPTIONS,
    ...splitOption(KINDS[kind].input),
    ...(KINDS[kind].input === 'video' ? VIDEO_OPTIONS : {}),
    ...SUBMIT_OPTIONS,
    ...RUN_OPTIONS,
    ...DELIVERY_OPTIONS,
    ...(givesVideo(kind)
      ? { ...KEEP_OPTIONS, ...SOUND_OPTIONS, ...MARK_OPTIONS, ...STYLE_OPTION, ...PASS_OPTION }
      : {}),
    ...(givesSubtitles(kind) ? SUBTITLE_FORMAT_OPTION : {}),
    ...(kind === 'subtitle_recognition' ? SPEAKER_OPTION : {}),
    ...(kind === 'dubbing' ? { ...TERMS_OPTION, ...REDUB_OPTIONS, ...VOICES_OPTION } : {}),
    ...(kind === 'subtitle_translation' ? { ...TERMS_OPTION, ...MASK_OPTION, ...MEMORY_OPTIONS } : {}),
  };
}

/**
 * The limits and modes of a run.
 * @param renewExpired whether jobs whose results have expired are made again
 */
export function readRunOptions(options: JobOptions, renewExpired = false): RunOptions {
  const { jobs = LIMITS.concurrentTasks, maxCredits = null, maxDuration = null, timeout = null } = options;
  const prices = options.price === undefined ? {} : parsePrices(options.price);
  if (prices === null) {
    const problem = describeInvalidPrices('--price', options.price ?? '');
    throw invalidCallFailure(problem, 'Nothing was sent; correct it.');
  }
  const { fresh, retryFailed, skipDone, rebuild, detach } = options;
  return {
    jobs,
    maxCredits,
    prices,
    maxDurationMs: maxDuration,
    timeoutMs: timeout,
    fresh,
    retryFailed,
    skipDone,
    renewExpired,
    rebuild,
    detach,
  };
}

/** Preparation steps that are allowed before an input is sent. */
export interface AllowedPreparation {
  readonly convert: boolean;
  readonly split: boolean;
  /** From 1; null for the default track. */
  readonly audioTrack: number | null;
  /** Length of the sample that is sent instead of the whole video, in seconds; null for the whole. */
  readonly sampleSeconds: number | null;
  /** Whether a video without sound is copied instead of refused. */
  readonly passThrough: boolean;
}

/** The options about the preparation of inputs. */
export type PreparationOptions = Pick<
  JobOptions,
  'split' | 'convert' | 'audioTrack' | 'sample' | 'passThrough'
>;

export function readPreparation(options: PreparationOptions): AllowedPreparation {
  const { split, convert = false, audioTrack = null, sample, passThrough = false } = options;
  const sampleSeconds = sample === undefined ? null : sample / 1000;
  return { convert, split, audioTrack, sampleSeconds, passThrough };
}

const RESULT_EXTENSIONS: ReadonlySet<string> = new Set([
  ...Object.values(RESULT_FORMATS).map(({ extension }) => extension),
  ...SUBTITLE_FORMATS.map((format) => `.${format}`),
  ...SOUND_EXTENSIONS,
]);

/**
 * Checks --out, --clobber and --skip-existing; nothing was sent yet.
 * @throws Failure of category usage for a file where a folder is expected, and for flags that contradict each other
 */
export async function checkFolder(
  { out, clobber, skipExisting }: Pick<JobOptions, 'out' | 'clobber' | 'skipExisting'>,
  io: Pick<Io, 'cwd' | 'platform'>,
): Promise<void> {
  if (clobber && skipExisting) {
    throw invalidCallFailure(
      '--clobber replaces files that exist, and --skip-existing keeps them',
      'Leave one of them out.',
    );
  }
  if (out === undefined || out === STDOUT) return;
  const found = await stat(resolve(io.cwd, out)).catch(() => null);
  if (found?.isDirectory() === true) return;
  if (found !== null) throw notFolderFailure(`--out must be a folder, but ${out} is a file`, out, io);
  const isFileName = RESULT_EXTENSIONS.has(extname(out).toLowerCase()) && !/[/\\]$/.test(out);
  if (isFileName) throw notFolderFailure(`--out must be a folder, but ${out} is the name of a file`, out, io);
}

function notFolderFailure(message: string, out: string, { platform }: Pick<Io, 'platform'>): Failure {
  const [folder, name] = [dirname(out), basename(out)].map((word) => quoteForShell(word, platform));
  return invalidCallFailure(message, `Name the folder and the file: --out ${folder} --name ${name}`);
}
