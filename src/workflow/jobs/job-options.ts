/** The options of a job command: the fields of its kind out of the table, and what is done with the result. */
import { fieldFlags } from '../../batch/plan/field-flags.ts';
import { inGroup, type OptionSpec, type OptionTable } from '../../context/command.ts';
import type { Field } from '../../protocol/fields.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { SUBTITLE_FORMATS } from '../../protocol/subtitle-line.ts';
import { preparationOptions } from '../prepare/wishes.ts';
import { RUN_OPTIONS } from './run-options.ts';

/** In place of the folder of results: stdout. */
export const STDOUT = '-';

/** Where results go; shared by every command that fetches some. */
export const FOLDER_OPTIONS = inGroup('Output:', {
  out: {
    type: 'text',
    value: 'dir',
    help: 'folder for the results, created if missing (default: the current one); - writes a single result to stdout',
  },
  name: {
    type: 'text',
    value: 'template',
    help: 'names of the results, of {stem}, {lang}, {asset}, {id} and {ext}, which has its dot: {stem}-{lang}{ext}',
  },
  clobber: { type: 'flag', help: 'replace files that exist' },
  skipExisting: { type: 'flag', help: 'skip results that already exist' },
});

/** The same for commands that take up jobs: where this machine made them, it knows where their results belong. */
export const TAKE_UP_OPTIONS = {
  ...FOLDER_OPTIONS,
  out: {
    ...FOLDER_OPTIONS.out,
    help: 'folder for the results (default: that of the run that made the job, else the current one)',
  },
} as const satisfies OptionTable;

export const TIMEOUT_OPTION = inGroup('Limits:', {
  timeout: { type: 'duration', value: 'time', help: 'stop waiting after 90s, 30m, 2h; the job continues' },
});

/** The same for commands that also wait. */
export const DELIVERY_OPTIONS = {
  ...FOLDER_OPTIONS,
  ...TIMEOUT_OPTION,
} as const satisfies OptionTable;

export const SUBMIT_OPTIONS = inGroup('Job:', {
  detach: { type: 'flag', help: 'print the ids of the jobs and do not wait' },
  set: {
    type: 'pairs',
    value: 'name=value',
    help: 'a request field that vloc does not know: JSON or text, a.b=1 for nested ones; may be repeated',
  },
  body: {
    type: 'text',
    value: '@file',
    help: 'JSON object with request fields, from a file or (-) stdin; flags win over it',
  },
});

export const SUBTITLE_FORMAT_OPTION = inGroup('Subtitles and stages:', {
  subtitleFormat: {
    type: 'choice',
    choices: SUBTITLE_FORMATS,
    help: 'format of the subtitles that are written (default: srt)',
  },
});

/** Which inputs; beside the operands. */
export const INPUT_OPTIONS = inGroup('Input:', {
  watch: {
    type: 'flag',
    help: 'process new files in the folders, each when it is written completely, until Ctrl-C',
  },
  dryRun: { type: 'flag', help: 'print the plan and its cost; submit nothing' },
  include: {
    type: 'texts',
    value: 'glob',
    help: 'only include files in folders that match this glob, such as *.mp4; repeatable',
  },
  exclude: { type: 'texts', value: 'glob', help: 'skip files in folders that match this glob; repeatable' },
  filesFrom: { type: 'text', value: 'file', help: 'take the inputs from a list, one a line; - is stdin' },
  filesFrom0: {
    type: 'text',
    value: 'file',
    help: 'the same, NUL-separated, as find -print0 writes',
  },
  sheet: {
    type: 'text',
    value: 'file',
    help: 'CSV or JSON with a row for each input: file, to and other options; a row wins over the flags',
  },
  order: {
    type: 'choice',
    choices: ['given', 'size', 'name'],
    help: 'begin with the smallest, or by name (default: as given, folders by name)',
  },
});

export interface FieldOption {
  /** Name of the request field. */
  readonly field: string;
  /** Name of the option, in camel case. */
  readonly option: string;
  readonly spec: OptionSpec;
}

/** One option for each request field of the kind; what the operands stand for has none. */
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
            help: `${field.help}; several, separated by commas, make a job each`,
            required: true,
          }
        : { type: 'text', value: 'tag', help: `${field.help} (default: ${field.default})` };
    case 'choice':
      return { type: 'choice', choices: field.choices, help: `${field.help} (default: ${field.default})` };
    case 'reference':
      return { type: 'text', value: 'text', help: field.help };
    case 'callback':
      return { type: 'text', value: 'url', help: field.help };
  }
}

/** The whole option table of a kind's command. */
export function jobOptions(kind: JobKind): OptionTable {
  const own = fieldOptions(kind).map(({ option, spec }) => [option, spec] as const);
  const common = {
    ...INPUT_OPTIONS,
    ...inGroup('Input:', preparationOptions(kind)),
    ...SUBMIT_OPTIONS,
    ...RUN_OPTIONS,
    ...DELIVERY_OPTIONS,
  };
  return { ...Object.fromEntries(own), ...common };
}
