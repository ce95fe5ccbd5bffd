/**
 * The file `engines.json`: which engines do each step, in order of preference. Source of its JSON Schema and of the
 * messages about its mistakes.
 */
import { isAbsolute } from 'node:path';
import * as v from 'valibot';
import type { BackendStep, JobStep } from '../media/work.ts';
import { canonicalLanguage } from '../protocol/language-tag.ts';

const described = <const Schema extends v.GenericSchema>(schema: Schema, text: string) =>
  v.pipe(schema, v.description(text));

/** The option of `vloc engines add` for a field, where it differs from the name and the description of the field. */
export interface FieldOption {
  /** In camel case; a switch whose option begins with `no` is on without it. */
  readonly name?: string;
  /** Placeholder of the value, else the name. A `dir` is relative to the current folder, a `time` is in seconds. */
  readonly value?: string;
  readonly help?: string;
  readonly daily?: true;
}

const field = <const Schema extends v.GenericSchema>(
  schema: Schema,
  text: string,
  option: FieldOption = {},
) => v.pipe(schema, v.description(text), v.metadata({ option }));

const Name = v.pipe(v.string('must be a string'), v.trim(), v.minLength(1, 'must not be empty'));

const Language = v.pipe(
  Name,
  v.check((tag) => canonicalLanguage(tag) !== null, 'must be a BCP 47 tag such as es or pt-BR'),
);

const Url = v.pipe(
  Name,
  v.check((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'must begin with http:// or https://'),
  v.check((text) => {
    const url = URL.parse(text);
    return url === null || (url.username === '' && url.password === '');
  }, 'must have no user name or password; name a variable with the key in "key": {"env": "NAME"}'),
);

/** Arguments of a program: never a line for a shell. */
const Words = v.pipe(
  v.array(Name, 'must be a list such as ["program", "argument"]; no shell splits a line into words'),
  v.minLength(1, 'must name a program'),
);

/** A whole number of at least `least`, and at most `most`. */
const whole = (least: number, most: number) =>
  v.pipe(
    v.number('must be a number'),
    v.integer('must be a whole number'),
    v.minValue(least, `must be at least ${least}`),
    v.maxValue(most, `must be at most ${most}`),
  );

const Switch = v.boolean('must be true or false');

const Key = v.union(
  [
    v.strictObject({ env: described(Name, 'Environment variable that holds the key.') }),
    v.strictObject({ command: described(Words, 'Program, and its arguments, that prints the key.') }),
  ],
  'must be {"env": "NAME"} or {"command": ["program", "argument"]}, so that the key is in no file',
);

const Common = {
  languages: v.optional(
    field(
      v.pipe(v.array(Language, 'must be a list of languages'), v.minLength(1, 'must name a language')),
      'Languages to use this engine for, as BCP 47 tags. Default: all that it supports.',
      {
        daily: true,
        name: 'language',
        value: 'tags',
        help: 'languages to use it for, separated by commas (default: all that it supports)',
      },
    ),
  ),
  fallback: v.optional(
    field(
      Switch,
      'False: fail if this engine does not support a language; use no later one. Default: true.',
      {
        name: 'noFallback',
        help: 'fail if it does not support a language, instead of using the next engine',
      },
    ),
  ),
  concurrency: v.optional(field(whole(1, 64), 'Maximum number of concurrent calls.')),
  timeout: v.optional(
    field(whole(1, 86_400), 'Seconds until a call fails.', {
      value: 'time',
      help: 'fail a call after this time, such as 90s or 30m',
    }),
  ),
  managed: v.optional(described(Name, 'Model of `vloc models` that wrote this entry, and removes it.')),
};

const address = (example: string) => ({
  url: field(Url, `Address of the server, such as ${example}.`, { daily: true }),
  key: v.optional(
    field(Key, 'Where the key of the server is.', {
      daily: true,
      name: 'keyEnv',
      value: 'variable',
      help: 'environment variable that holds the key of the server',
    }),
  ),
  insecure: v.optional(
    field(Switch, 'True: allow http:// to an address that is neither this machine nor a private network.', {
      help: 'allow http to an address outside private networks',
    }),
  ),
});

const openai = {
  type: described(v.literal('openai'), 'A server with the interface of OpenAI.'),
  ...address('http://127.0.0.1:8000/v1'),
  model: field(Name, 'Name of the model on the server.', { daily: true }),
  ...Common,
};
/** Fields of models that vloc loads itself. */
const loaded = {
  threads: v.optional(field(whole(1, 256), 'Threads of the model.')),
  memoryMib: v.optional(
    field(whole(1, 1_048_576), 'Memory that the model needs, in MiB. Default: estimated by its files.'),
  ),
  ...Common,
};
const sherpa = {
  type: described(v.literal('sherpa'), 'A model in a folder, run by sherpa-onnx on this machine.'),
  folder: field(Name, 'Folder of the model. "~" is your home folder.', {
    daily: true,
    value: 'dir',
  }),
  ...loaded,
};
/** A path that is the same from any folder. */
const FullPath = v.pipe(
  Name,
  v.check((path) => isAbsolute(path) || path.startsWith('~/'), 'must be a full path, or begin with ~/'),
);

/** A number from `least` to `most`. */
const between = (least: number, most: number) =>
  v.pipe(
    v.number('must be a number'),
    v.minValue(least, `must be at least ${least}`),
    v.maxValue(most, `must be at most ${most}`),
  );

const context = v.optional(
  field(whole(0, 50), 'Cues before and after that the model sees. Default: 5; 2 for type llama.'),
);

const llama = {
  type: described(v.literal('llama'), 'A GGUF model, run by llama.cpp on this machine.'),
  model: field(FullPath, 'Full path of the GGUF file. "~" is your home folder.'),
  runtime: v.optional(
    field(FullPath, 'Folder of node-llama-cpp. Default: node-llama-cpp beside the folder of the model.', {
      value: 'dir',
    }),
  ),
  context,
  gpu: v.optional(
    field(Switch, 'False: run on the processor, even if there is a graphics card. Default: true.', {
      name: 'noGpu',
      help: 'run on the processor, even if there is a graphics card',
    }),
  ),
  prompt: v.optional(
    field(
      v.pipe(Name, v.includes('{text}', 'must have {text}')),
      'What the model is asked, with {text}, and {from}, {to} and {context} if it needs them. Default: that of Hy-MT2.',
      { value: 'text' },
    ),
  ),
  temperature: v.optional(field(between(0, 5), 'Temperature of the model.')),
  topP: v.optional(field(between(0, 1), 'Top-p of the model.')),
  topK: v.optional(field(whole(0, 1_000), 'Top-k of the model.')),
  repeatPenalty: v.optional(field(between(0, 5), 'Repeat penalty of the model; 1 is none.')),
  ...loaded,
};
const command = {
  type: described(v.literal('command'), 'A program of this machine.'),
  run: described(
    Words,
    'The program and its arguments. {input}, {output}, {out}, {stem}, {language}, {from}, {to}, {voice} and {speed} are replaced.',
  ),
  ...Common,
};

const Voice = v.union([
  Name,
  v.strictObject(
    { auto: v.optional(Name), female: v.optional(Name), male: v.optional(Name) },
    'must be a name, or {"auto": …, "female": …, "male": …} with names',
  ),
]);
const voices = {
  voices: v.optional(
    field(
      v.record(Language, Voice, 'must be an object of languages and voices'),
      'The voice of each language: a name, or {"female": …, "male": …}.',
      {
        daily: true,
        name: 'voice',
        value: 'language=name',
        help: 'voice for a language, such as es=NAME, or es.female=NAME for one voice mode; repeatable',
      },
    ),
  ),
};

const terms = {
  terms: v.optional(
    field(FullPath, 'Full path of a file of --terms, whose terms the model is told to expect.', {
      value: 'file',
    }),
  ),
};

/** The types of engines that each step accepts, with their fields. */
export const ENTRIES = {
  recognize: v.variant('type', [
    v.strictObject({ ...openai, ...terms }),
    v.strictObject({ ...sherpa, ...terms }),
    v.strictObject({
      ...command,
      format: v.optional(
        field(
          v.picklist(['srt', 'verbose_json'], 'must be "srt" or "verbose_json"'),
          'What the program writes. Default: srt.',
        ),
      ),
    }),
  ]),
  translate: v.variant('type', [
    v.strictObject({
      ...openai,
      context,
      instructions: v.optional(field(Name, 'What the model should know: names, tone, words to keep.')),
    }),
    v.strictObject({
      type: described(v.literal('libretranslate'), 'A LibreTranslate server.'),
      ...address('http://127.0.0.1:5000'),
      ...Common,
    }),
    v.strictObject(llama),
    v.strictObject(command),
  ]),
  speak: v.variant('type', [
    v.strictObject({ ...openai, ...voices }),
    v.strictObject({ ...sherpa, ...voices }),
    v.strictObject({ ...command, ...voices }),
  ]),
  separate: v.variant('type', [
    v.strictObject({
      ...command,
      vocals: field(Name, 'File of the voice, below {out}.'),
      background: field(Name, 'File of everything else, below {out}.'),
    }),
  ]),
  diarize: v.variant('type', [
    v.strictObject({
      ...sherpa,
      threshold: v.optional(
        field(
          between(0, 2),
          'How different two voices must be to count as two speakers. Higher finds fewer. Default: 0.5.',
        ),
      ),
    }),
  ]),
  mark: v.variant('type', [v.strictObject(command)]),
} as const satisfies Record<BackendStep, v.GenericSchema>;

/** The engines that vloc uses without a file, by the names that stand for them in it, in order. None tells speakers apart, or marks videos. */
export const BUILT_IN = {
  recognize: ['pocketsphinx'],
  translate: ['apertium'],
  speak: ['flite', 'espeak-ng'],
  separate: ['builtin'],
} as const satisfies Record<JobStep, readonly string[]>;

/** Whether an engine with this name is a built-in one of the step. */
export function isBuiltIn(step: JobStep, name: string): boolean {
  return BUILT_IN[step].some((builtIn) => builtIn === name);
}

/** The engines of a step that a file does not name. */
export function defaultEngines(step: BackendStep): readonly string[] {
  return step in BUILT_IN ? BUILT_IN[step as JobStep] : []; // those are the steps of jobs
}

/** One step: engines in order of preference. */
const list = <const Entry extends v.GenericSchema, const Names extends readonly string[]>(
  entry: Entry,
  builtIn: Names,
  what: string,
) =>
  v.optional(
    described(
      v.pipe(
        v.array(v.union([v.picklist(builtIn), entry]), 'must be a list of engines, in [ and ]'),
        v.minLength(1, `must have at least one engine; leave the list out to use ${builtIn.join(' and ')}`),
      ),
      `Engines that ${what}, the preferred one first. The first that supports the language is used.`,
    ),
  );

/** Where editors find the JSON Schema of the file: in the published package, so that no path into an installation is written. */
export const SCHEMA_ADDRESS = 'https://unpkg.com/vloc/docs/engines.schema.json';

export const EnginesFile = v.strictObject({
  $schema: v.optional(
    described(v.string('must be a string'), 'Where editors find the description of this file.'),
  ),
  recognize: list(ENTRIES.recognize, BUILT_IN.recognize, 'recognize speech'),
  translate: list(ENTRIES.translate, BUILT_IN.translate, 'translate'),
  speak: list(ENTRIES.speak, BUILT_IN.speak, 'speak'),
  separate: list(ENTRIES.separate, BUILT_IN.separate, 'separate voice and background'),
  diarize: v.optional(
    described(
      v.pipe(
        v.array(ENTRIES.diarize, 'must be a list of engines, in [ and ]'),
        v.minLength(1, 'must have at least one engine'),
      ),
      'Engines that tell speakers apart, for `vloc recognize --speakers`. The first is used.',
    ),
  ),
  mark: v.optional(
    described(
      v.pipe(
        v.array(ENTRIES.mark, 'must be a list of engines, in [ and ]'),
        v.minLength(1, 'must have at least one engine; leave the list out to use none'),
      ),
      'Programs that get each video that this machine exports or marks, last, and return it. The first is used.',
    ),
  ),
});

/** A checked `engines.json`. A step that it does not name uses the built-in engine. */
export type EnginesConfig = v.InferOutput<typeof EnginesFile>;

/** One entry of a step, other than a built-in engine. */
export type EntryOf<S extends BackendStep> = Exclude<NonNullable<EnginesConfig[S]>[number], string>;

/** An entry of one type, such as `TypedEntry<'speak', 'openai'>`. */
export type TypedEntry<S extends BackendStep, T extends string> = Extract<EntryOf<S>, { readonly type: T }>;

/** Where the key of a server is. */
export type KeySource = v.InferOutput<typeof Key>;
