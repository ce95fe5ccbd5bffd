import { isAbsolute, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { configurationFailure, Failure, usageFailure } from '../../base/failure.ts';
import {
  changeOption,
  choiceOption,
  durationOption,
  flagOption,
  listOption,
  numberOption,
  type Option,
  type OptionTable,
  type OptionValues,
  pairsOption,
  type RawOptions,
  textOption,
} from '../../base/option.ts';
import { flagName } from '../../batch/inputs/field-flags.ts';
import {
  defaultEngines,
  ENTRIES,
  type EnginesConfig,
  type EntryOf,
  type FieldOption,
  SCHEMA_ADDRESS,
} from '../../engines/config.ts';
import { checkEngines, NO_FIELD, typesOf } from '../../engines/config-check.ts';
import { readEnginesFile, saveEnginesFile } from '../../engines/config-file.ts';
import { nameEntry } from '../../engines/entry.ts';
import type { BackendStep } from '../../media/work.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { locateEngines } from '../context/engines.ts';
import { formatDuration } from '../context/format.ts';
import { writeCommand } from '../context/printed-command.ts';
import { printRecord } from '../context/records.ts';
import {
  createOnce,
  ENGINE_FIELDS,
  ENGINE_RECORD,
  ENGINES_FORM,
  listUsed,
  parseStep,
  rowOf,
  trialLimitMs,
} from './engines.ts';
import { formatTrial, runTrial } from './trials.ts';

/** The fields of all types of engines that have options. The program follows `--`, and the type is asked for first. */
const ENTRY_FIELDS: ReadonlyMap<string, v.GenericSchema> = new Map(
  Object.values(ENTRIES)
    .flatMap(({ options }) => options.flatMap(({ entries }) => Object.entries<v.GenericSchema>(entries)))
    .filter(([field]) => !['type', 'run', 'managed'].includes(field))
    .map(([field, schema]) => [field, 'wrapped' in schema ? (schema.wrapped as v.GenericSchema) : schema]),
);

type NamedOption = FieldOption & Required<Pick<FieldOption, 'name' | 'value' | 'help'>>;

/** The option of a field, from its schema. */
function optionFacts(field: string, schema: v.GenericSchema): NamedOption {
  const option = v.getMetadata(schema).option as FieldOption; // set by engines/config.ts
  const help = (v.getDescription(schema) ?? '').replace(/^True: /, '').replace(/\.$/, '');
  return { name: field, value: field, help: `${help.charAt(0).toLowerCase()}${help.slice(1)}`, ...option };
}

function createFieldOption(schema: v.GenericSchema, { value, help }: NamedOption): Option {
  if (value === 'time') return durationOption(help);
  switch (schema.type) {
    case 'boolean':
      return flagOption(help);
    case 'number':
      return numberOption('n', help);
    case 'array':
      return listOption(value, help);
    case 'record':
      return pairsOption(value, help);
    case 'picklist':
      return choiceOption((schema as v.GenericSchema & { options: readonly string[] }).options, help);
    default:
      return textOption(value, help);
  }
}

const FIELD_OPTIONS: OptionTable = Object.fromEntries(
  [...ENTRY_FIELDS].map(([field, schema]) => {
    const facts = optionFacts(field, schema);
    const option = createFieldOption(schema, facts);
    return [facts.name, facts.daily === true ? changeOption(option, { daily: true }) : option];
  }),
);

const OPTIONS = {
  type: textOption(
    'engine',
    'openai, libretranslate, sherpa, llama or command (default: command, if a program follows)',
    { daily: true },
  ),
  ...FIELD_OPTIONS,
  first: flagOption('use it before the other engines of the step (default)'),
  last: flagOption('use it after the other engines of the step'),
  noCheck: flagOption('save it without a trial'),
};

type Options = OptionValues<typeof OPTIONS> & RawOptions;

export const enginesAdd: Command = defineCommand({
  operands: {
    name: 'step',
    count: 'many',
    parts: {
      '<step>': 'recognize, translate, speak or separate',
      '[-- program arguments...]': 'program of an engine of type command, with its arguments',
    },
  },
  options: OPTIONS,
  examples: [
    {
      command: 'vloc engines add recognize --type openai --url http://127.0.0.1:8000/v1 --model large-v3',
      explains: 'a server with the interface of OpenAI, such as speaches or whisper.cpp',
    },
    {
      command:
        'vloc engines add translate --type openai --url https://api.example.com/v1 --model m --key-env MT_KEY',
      explains: 'a hosted service; the key stays in the environment',
    },
    {
      command: 'vloc engines add translate --type libretranslate --url http://127.0.0.1:5000',
      explains: 'LibreTranslate',
    },
    {
      command: 'vloc engines add speak --type sherpa --folder ~/models/piper-es --language es',
      explains: 'a voice in a folder, for Spanish only',
    },
    {
      command:
        "vloc engines add separate --vocals '{stem}/vocals.wav' --background '{stem}/no_vocals.wav' -- demucs -o '{out}' '{input}'",
      explains: 'a program, such as Demucs',
    },
  ],
  notes: [
    'First runs a short sample through the engine, and saves nothing if that fails. The file is engines.json in the folder of the profiles, or that of --engines or VLOC_ENGINES.',
  ],
  fields: () => ENGINE_FIELDS,
  prints: ENGINE_RECORD,
  run: async (context, [word = '', ...program], options) => {
    if (options.first && options.last) {
      throw invalidCallFailure('--first and --last cannot be combined', 'Leave one of them out.');
    }
    const step = parseStep(word);
    const entry = makeEntry(step, program, options, context);
    const { path } = locateEngines(context);
    // A file that is named and missing is made.
    const read = await readEnginesFile({ path, chooser: null }, context.terminal.warn);
    const { $schema = SCHEMA_ADDRESS, ...before } = read?.written ?? {};
    const list: readonly (EntryOf<BackendStep> | string)[] = before[step] ?? defaultEngines(step);
    refuseTwin(step, list, entry, context);
    await check(step, entry, options.noCheck, context);
    const entries = options.last ? [...list, entry] : [entry, ...list];
    const after = { $schema, ...before, [step]: entries } as EnginesConfig; // the entry was checked for this step
    await saveEnginesFile(path, after);
    const position = entries.indexOf(entry) + 1;
    const added = listUsed(after).filter((used) => used.step === step && used.position === position);
    for (const used of added) await printRecord(context, ENGINES_FORM, rowOf(used));
    context.terminal.note(`Saved in ${path}; the embedded service uses it from now on.`);
    context.terminal.note(`Compare it with others: ${writeCommand(context, ['engines', 'test', step])}`);
    return 0;
  },
});

/** Makes the entry of the options. @throws Failure (`usage`) that names the wrong options */
function makeEntry(
  step: BackendStep,
  program: readonly string[],
  options: Options,
  { io }: Context,
): EntryOf<BackendStep> {
  const type = options.type ?? (program.length > 0 ? 'command' : undefined);
  if (type === undefined) {
    throw invalidCallFailure('--type is missing', `Types for ${step}: ${typesOf(step).join(', ')}.`);
  }
  if (program.length > 0 && type !== 'command') {
    throw invalidCallFailure(`an engine of type ${type} has no program`, 'Leave out --type, or the program.');
  }
  const entry = {
    type,
    ...(program.length === 0 ? {} : { run: wholePaths(program, io.cwd) }),
    ...fieldsOf(options, io.cwd),
  };
  try {
    checkEngines({ [step]: [entry] }, 'the options');
  } catch (error) {
    throw error instanceof Failure ? asUsageFailure(error, step, type) : error;
  }
  return entry as EntryOf<BackendStep>; // just checked
}

/** The fields of the entry that options set. */
function fieldsOf(options: Options, cwd: string): Readonly<Record<string, unknown>> {
  const fields = [...ENTRY_FIELDS].map(([field, schema]) => {
    const { name, value } = optionFacts(field, schema);
    return [field, toField(options[name], { field, name, value, cwd })] as const;
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** The value of a field by that of its option; undefined if it was not given. */
function toField(
  given: unknown,
  { field, name, value, cwd }: { field: string; name: string; value: string; cwd: string },
): unknown {
  if (given === true) return !name.startsWith('no');
  if (given === false || (Array.isArray(given) && given.length === 0)) return undefined;
  if (typeof given === 'number' && value === 'time') return Math.ceil(given / 1000);
  if (typeof given === 'string' && field === 'key') return { env: given };
  // The file is used from any folder.
  if (typeof given === 'string' && (value === 'dir' || value === 'file') && !given.startsWith('~'))
    return resolve(cwd, given);
  return isObject(given) && !Array.isArray(given) ? groupVoices(given) : given;
}

function isObject(value: unknown): value is Readonly<Record<string, string>> {
  return typeof value === 'object' && value !== null;
}

/** A program with a relative path is found from any folder only by its full path. */
function wholePaths([program = '', ...rest]: readonly string[], cwd: string): readonly string[] {
  const isPath = !isAbsolute(program) && /[\\/]/.test(program);
  return [isPath ? resolve(cwd, program) : program, ...rest];
}

/** `es` and `es.female` become one object for Spanish. */
function groupVoices(given: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> | undefined {
  if (Object.keys(given).length === 0) return undefined;
  const parts = Object.entries(given).map(([key, name]) => {
    const [language = '', mode = 'auto'] = key.split('.');
    return { language, mode, name };
  });
  const groups = Object.entries(Object.groupBy(parts, ({ language }) => language));
  return Object.fromEntries(
    groups.map(([language, voices = []]) => {
      const [only] = voices;
      if (voices.length === 1 && only?.mode === 'auto') return [language, only.name];
      return [language, Object.fromEntries(voices.map(({ mode, name }) => [mode, name]))];
    }),
  );
}

function asUsageFailure(failure: Failure, step: BackendStep, type: string): Failure {
  const errors = (failure.facts.errors ?? []).map(({ pointer, detail }) => {
    const field = /^\w+\[0\](?: \(\w+\))? (\w+)/.exec(pointer)?.[1] ?? 'type';
    const isUnknown = detail.startsWith(NO_FIELD);
    return {
      pointer: optionOf(field) ?? field,
      detail: isUnknown ? `type ${type} does not have it for the step ${step}` : detail,
    };
  });
  return usageFailure('USAGE', 'the options cannot be used', 'See `vloc engines add --help`.', { errors });
}

/** Fields that say how an engine is called, not which one it is. */
const TUNING: ReadonlySet<string> = new Set([
  'key',
  'insecure',
  'threads',
  'memoryMib',
  'context',
  'fallback',
  'concurrency',
  'timeout',
]);

function identityOf(entry: object): object {
  const fields = Object.entries(entry).filter(([name]) => !TUNING.has(name));
  return Object.fromEntries(
    fields.map(([name, value]) => [name, name === 'url' ? String(value).replace(/\/+$/, '') : value]),
  );
}

function refuseTwin(
  step: BackendStep,
  list: readonly (object | string)[],
  entry: object,
  context: Context,
): void {
  const twin = list.findIndex(
    (other) => typeof other !== 'string' && isDeepStrictEqual(identityOf(other), identityOf(entry)),
  );
  if (twin < 0) return;
  const remove = writeCommand(context, ['engines', 'remove', step, String(twin + 1)]);
  const advice = `To change its settings, remove it first: ${remove}`;
  throw invalidCallFailure(`engine ${twin + 1} of ${step} is the same`, advice);
}

/** Runs the sample through the engine and notes the result. @throws Failure (`configuration`) if it fails */
async function check(
  step: BackendStep,
  entry: EntryOf<BackendStep>,
  onlyEntry: boolean,
  context: Context,
): Promise<void> {
  if (onlyEntry) {
    await createOnce({ step, entry }, context).catch((error: unknown) => {
      context.signal.throwIfAborted();
      throw checkFailure(
        asOptions(error instanceof Error ? error.message : String(error)),
        'Nothing was saved.',
      );
    });
    return;
  }
  const name = nameEntry(entry);
  const limit = formatDuration(trialLimitMs(context));
  context.terminal.note(`Trying ${name} with a short sample, for at most ${limit} …`);
  const row = await runTrial({ step, position: 1, entry, name }, context);
  if (row.result === 'failed') {
    throw checkFailure(
      asOptions(row.problem ?? 'unknown reason'),
      'Nothing was saved; --no-check saves it without trying it.',
    );
  }
  // The sample is clear speech, or a short sentence: whoever gets no word of it right is set up wrongly.
  if ((row.word_error_rate ?? 0) >= 1) {
    throw checkFailure(
      `all words of the sample are wrong: ${JSON.stringify(row.output ?? '')}`,
      'Check its model and language. Nothing was saved; --no-check saves it without trying it.',
    );
  }
  context.terminal.note(
    row.result === 'skipped' ? `Not tried: ${row.problem}` : `It works: ${formatTrial(row)}`,
  );
}

function checkFailure(problem: string, saved: string): Failure {
  return configurationFailure('ENGINE_CHECK_FAILED', `the check failed: ${problem}`, saved);
}

/** How the messages of engines write values of fields, and the options that set them. */
const WRITTEN: readonly (readonly [RegExp, string])[] = [
  [/"key": \{"env": "(\w+)"\}/g, '--key-env $1'],
  [/"voices": \{"(\w+)": "(\w+)"\}/g, '--voice $1=$2'],
  [/"languages": \["(\w+)"\]/g, '--language $1'],
  [/\["(\w+)", "(\w+)"\]/g, '$1,$2'],
  [/"insecure": true/g, '--insecure'],
  [/"fallback": false/g, '--no-fallback'],
  [/ (?:of|for|to) this engine\b(?: in engines\.json)?| in engines\.json/g, ''],
];

/** The message of an engine with options instead of fields of the file: nothing is in the file yet. */
function asOptions(problem: string): string {
  const known = WRITTEN.reduce((text, [written, option]) => text.replace(written, option), problem);
  return known.replace(/(?:"|\bits )(\w+)\b"?/g, (written, field: string) => optionOf(field) ?? written);
}

/** The option of a field as it is typed; null for another word. */
function optionOf(field: string): string | null {
  if (field === 'run') return '-- PROGRAM';
  if (field === 'type') return '--type';
  const schema = ENTRY_FIELDS.get(field);
  return schema === undefined ? null : flagName(optionFacts(field, schema).name);
}
