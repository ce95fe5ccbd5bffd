/** The options of the job commands: the fields of their kind from the table, their inputs, limits and results. */

import { stat } from 'node:fs/promises';
import { basename, dirname, extname, resolve } from 'node:path';
import type { Failure } from '../../base/failure.ts';
import { givesSubtitles, givesVideo } from '../../batch/plan/delivery.ts';
import { fieldFlags, type TextFieldOption } from '../../batch/plan/field-flags.ts';
import type { RunOptions } from '../../batch/run/batch.ts';
import type { Field } from '../../protocol/fields.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { describeInvalidPrices, parsePrices } from '../../protocol/prices.ts';
import { RESULT_FORMATS } from '../../protocol/result-formats.ts';
import { SUBTITLE_FORMATS } from '../../protocol/subtitle-line.ts';
import { inGroup, invalidCallFailure, type OptionValues } from '../context/command.ts';
import type { Io } from '../context/context.ts';
import type { OptionSpec, OptionTable } from '../context/option-table.ts';
import { quoteForShell } from '../context/printed-command.ts';

/** The command of each kind. */
export const COMMAND_OF: Readonly<Record<JobKind, string>> = {
  audio_separation: 'separate',
  subtitle_recognition: 'recognize',
  subtitle_translation: 'translate',
  dubbing: 'dub',
  auto_localization: 'localize',
};

/** The value of --out for stdout. */
export const STDOUT = '-';

/** Where results go; for every command that downloads results. */
const FOLDER_OPTIONS = inGroup('Output:', {
  out: {
    type: 'text',
    value: 'dir',
    tool: 'writes',
    help: 'folder for the results, created if missing (default: the current one); - writes a single result to stdout',
    argumentHelp: 'folder for the results, created if missing (default: the first writable folder)',
  },
  name: {
    type: 'text',
    value: 'template',
    tool: 'name',
    help: 'template for result names: {stem}, {lang}, {asset}, {id} and {ext} (with its dot), such as {stem}-{lang}{ext}',
  },
  clobber: { type: 'flag', help: 'replace files that exist' },
  skipExisting: { type: 'flag', help: 'skip results that already exist' },
});

/** The same for commands that take ids of jobs: this machine knows where the results of its own jobs belong. */
export const JOB_DELIVERY_OPTIONS = {
  ...FOLDER_OPTIONS,
  out: {
    ...FOLDER_OPTIONS.out,
    help: 'folder for the results (default: that of the run that created the job, else the current one)',
    argumentHelp: FOLDER_OPTIONS.out.argumentHelp,
  },
  asIs: {
    type: 'flag',
    help: 'download videos without the tracks that --keep-audio and --keep-subtitles add',
    group: 'Output:',
  },
} as const satisfies OptionTable;

export const TIMEOUT_OPTION = inGroup('Limits:', {
  timeout: {
    type: 'duration',
    value: 'time',
    help: 'stop waiting after this time, such as 90s, 30m or 2h; jobs continue',
  },
});

/** The same for commands that wait. */
const DELIVERY_OPTIONS = {
  ...FOLDER_OPTIONS,
  ...TIMEOUT_OPTION,
} as const satisfies OptionTable;

const SUBMIT_OPTIONS = inGroup('Job:', {
  detach: { type: 'flag', help: 'print the job ids and do not wait' },
  set: {
    type: 'pairs',
    value: 'name=value',
    tool: 'default',
    help: 'set a request field that vloc does not know; JSON or text, a.b=1 for nested fields; repeatable',
  },
  body: {
    type: 'text',
    value: '@file',
    tool: 'default',
    help: 'request fields as a JSON object, @file, or - for stdin; flags override it',
  },
});

export const SUBTITLE_FORMAT_OPTION = inGroup('Subtitles and stages:', {
  subtitleFormat: {
    type: 'choice',
    choices: SUBTITLE_FORMATS,
    help: 'format of the subtitles to write (default: srt)',
  },
});

/** Added to finished videos on this machine. */
const KEEP_OPTIONS = inGroup('Output:', {
  keepAudio: {
    type: 'flag',
    help: 'also keep the original sound, as a second audio track of the result; needs ffmpeg and a local file',
  },
  keepSubtitles: {
    type: 'flag',
    help: 'also keep the subtitle tracks of the original, and in stages the recognized or given subtitles',
  },
});

/** The inputs beyond the operands. */
const INPUT_OPTIONS = inGroup('Input:', {
  watch: {
    type: 'flag',
    tool: 'no',
    help: 'process new files in the folders, once they are complete, until Ctrl-C',
  },
  dryRun: { type: 'flag', help: 'print the plan and its cost; submit nothing' },
  include: {
    type: 'texts',
    value: 'glob',
    tool: 'text',
    help: 'only include files in folders that match this glob, such as *.mp4; repeatable',
  },
  exclude: {
    type: 'texts',
    value: 'glob',
    tool: 'text',
    help: 'skip files in folders that match this glob; repeatable',
  },
  filesFrom: { type: 'text', value: 'file', help: 'read inputs from a file, one per line; - for stdin' },
  filesFrom0: {
    type: 'text',
    value: 'file',
    help: 'the same, NUL-separated, as find -print0 writes',
  },
  sheet: {
    type: 'text',
    value: 'file',
    help: 'CSV or JSON with a row for each input: file, to and other options; a row overrides the flags',
  },
  shard: {
    type: 'text',
    value: 'i/n',
    tool: 'default',
    help: 'run only shard i of n, such as 2/3, to share the inputs among machines; --jobs and --max-credits apply to each',
  },
  order: {
    type: 'choice',
    choices: ['given', 'size', 'name'],
    help: 'start with the smallest inputs, or by name (default: as given, folders by name)',
  },
});

/** Limits of a run, and how it treats what was done before. */
export const RUN_OPTIONS = {
  ...inGroup('Limits:', {
    jobs: {
      type: 'number',
      whole: true,
      from: 1,
      value: 'n',
      help: `maximum number of concurrent jobs (default: ${LIMITS.concurrentTasks}, the limit of the service)`,
    },
    maxCredits: {
      type: 'number',
      from: 0,
      value: 'n',
      help: 'send no job that would raise the cost of this command above n credits',
    },
    price: {
      type: 'text',
      value: 'kind=credits',
      tool: 'default',
      help: 'credits for one unit, such as dubbing=2, for --max-credits with a service that does not report what jobs cost; several separated by commas',
    },
    maxDuration: {
      type: 'duration',
      value: 'time',
      help: 'send no new jobs after this time, such as 90s, 30m or 2h; running jobs are waited for',
    },
  }),
  ...inGroup('Job:', {
    fresh: { type: 'flag', tool: 'no', help: 'ignore earlier results and create new jobs, charged again' },
    retryFailed: { type: 'flag', help: 'also retry items that failed permanently' },
    skipDone: {
      type: 'flag',
      help: 'count what an earlier run downloaded as done, even if the file is no longer here',
    },
    rebuild: {
      type: 'flag',
      tool: 'no',
      help: "also continue jobs of the service that this folder's journal does not list, such as those of other folders",
    },
  }),
} as const;

/** What may be done to inputs that the service does not accept as they are. */
function splitOption(input: 'video' | 'subtitle') {
  const places = input === 'video' ? 'silences' : 'gaps between cues';
  const help = `split ${input}s that are too long for one job at ${places}, run each part as a job, and join the results`;
  return inGroup('Input:', { split: { type: 'flag', help } });
}

/** Subtitles have no container and no tracks. */
const CONVERT_OPTIONS = inGroup('Input:', {
  convert: {
    type: 'flag',
    help: 'first convert videos that the service does not accept, such as MKV, WebM or TS, to MP4',
  },
  audioTrack: {
    type: 'number',
    whole: true,
    from: 1,
    value: 'n',
    help: 'audio track to use, counted from 1',
  },
});

interface FieldOption {
  /** Name of the request field. */
  readonly field: string;
  /** Name of the option, in camel case. */
  readonly option: string;
  readonly spec: OptionSpec;
}

/** One option for each request field of the kind, except the input. */
export function fieldOptions(kind: JobKind): readonly FieldOption[] {
  return fieldFlags(kind).flatMap(({ field, option, row }) => {
    const spec = specOf(row);
    if (spec === null) return [];
    const group = field === 'subtitle_output' ? 'Subtitles and stages:' : 'Job:';
    return [{ field, option, spec: { ...spec, group } }];
  });
}

function specOf(field: Field): OptionSpec | null {
  switch (field.type) {
    case 'source':
    case 'subtitle':
      return null;
    case 'language':
      return field.required
        ? {
            type: 'list',
            value: 'tags',
            tool: 'text',
            help: `${field.help}; several, separated by commas, create a job each`,
            argumentHelp: `${field.help}; each makes a job`,
            required: true,
          }
        : { type: 'text', value: 'tag', tool: 'text', help: `${field.help} (default: ${field.default})` };
    case 'choice':
      return { type: 'choice', choices: field.choices, help: `${field.help} (default: ${field.default})` };
    case 'reference':
      return { type: 'text', value: 'text', tool: 'text', help: field.help };
    case 'callback':
      return { type: 'text', value: 'url', help: field.help };
  }
}

type TextSpec = OptionSpec & { readonly type: 'text' };
type ListSpec = OptionSpec & { readonly type: 'list' };
type ChoiceSpec = OptionSpec & { readonly type: 'choice' };

/** The options for request fields; a kind has those of its own fields only. */
type FieldTable = { readonly to?: ListSpec } & {
  readonly [Name in TextFieldOption]?: TextSpec | ChoiceSpec;
};

type JobTable = FieldTable &
  typeof INPUT_OPTIONS &
  ReturnType<typeof splitOption> &
  Partial<typeof CONVERT_OPTIONS> &
  typeof SUBMIT_OPTIONS &
  typeof RUN_OPTIONS &
  typeof DELIVERY_OPTIONS &
  Partial<typeof KEEP_OPTIONS> &
  Partial<typeof SUBTITLE_FORMAT_OPTION>;

/** The options of a job command, as the workflow gets them. */
export type JobOptions = OptionValues<JobTable>;

/** The option table of the command of a kind. */
export function jobTable(kind: JobKind): JobTable {
  const fields = fieldOptions(kind).map(({ option, spec }) => [option, spec] as const);
  return {
    ...(Object.fromEntries(fields) as FieldTable), // one row for each field of the kind
    ...INPUT_OPTIONS,
    ...splitOption(KINDS[kind].input),
    ...(KINDS[kind].input === 'video' ? CONVERT_OPTIONS : {}),
    ...SUBMIT_OPTIONS,
    ...RUN_OPTIONS,
    ...DELIVERY_OPTIONS,
    ...(givesVideo(kind) ? KEEP_OPTIONS : {}),
    ...(givesSubtitles(kind) ? SUBTITLE_FORMAT_OPTION : {}),
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

/** What may be done to an input before it is sent. */
export interface AllowedPreparation {
  readonly convert: boolean;
  readonly split: boolean;
  /** From 1; null for the default track. */
  readonly audioTrack: number | null;
}

/** The options about the preparation of inputs. */
export type PreparationOptions = Pick<JobOptions, 'split' | 'convert' | 'audioTrack'>;

export function readPreparation(options: PreparationOptions): AllowedPreparation {
  const { split, convert = false, audioTrack = null } = options;
  return { convert, split, audioTrack };
}

const RESULT_EXTENSIONS: ReadonlySet<string> = new Set([
  ...Object.values(RESULT_FORMATS).map(({ extension }) => extension),
  ...SUBTITLE_FORMATS.map((format) => `.${format}`),
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
