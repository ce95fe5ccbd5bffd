/**
 * The file `engines.json`: which engines do each step, in order of preference. Source of its JSON Schema and of the
 * messages about its mistakes.
 */
import * as v from 'valibot';
import { canonicalLanguage } from '../protocol/language-tag.ts';
import type { BackendStep } from './backend.ts';

const described = <const Schema extends v.GenericSchema>(schema: Schema, text: string) =>
  v.pipe(schema, v.description(text));

const Name = v.pipe(v.string(), v.trim(), v.minLength(1, 'must not be empty'));

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
const Words = v.pipe(v.array(Name), v.minLength(1, 'must name a program'));

const Key = v.union(
  [
    v.strictObject({ env: described(Name, 'Environment variable that holds the key.') }),
    v.strictObject({ command: described(Words, 'Program, and its arguments, that prints the key.') }),
  ],
  'must be {"env": "NAME"} or {"command": ["program", "argument"]}, so that the key is in no file',
);

const Common = {
  languages: v.optional(
    described(
      v.array(Language),
      'Languages to use this engine for, as BCP 47 tags. Default: all that it supports.',
    ),
  ),
  fallback: v.optional(
    described(
      v.boolean(),
      'False: fail if this engine does not support a language; use no later one. Default: true.',
    ),
  ),
  concurrency: v.optional(
    described(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(64)), 'The most calls at one time.'),
  ),
  timeout: v.optional(
    described(v.pipe(v.number(), v.minValue(1), v.maxValue(86_400)), 'Seconds until a call fails.'),
  ),
};

const Address = {
  url: described(
    Url,
    'Address of the server, with the version in its path, such as http://127.0.0.1:8000/v1.',
  ),
  key: v.optional(described(Key, 'Where the key of the server is.')),
  insecure: v.optional(
    described(
      v.boolean(),
      'True: allow http:// to an address that is neither this machine nor a private network.',
    ),
  ),
};

const openai = {
  type: v.literal('openai'),
  ...Address,
  model: described(Name, 'Name of the model, as the server knows it.'),
  ...Common,
};
const sherpa = {
  type: v.literal('sherpa'),
  folder: described(Name, 'Folder of the model. "~" is your home folder.'),
  threads: v.optional(described(v.pipe(v.number(), v.integer(), v.minValue(1)), 'Threads of the model.')),
  ...Common,
};
const command = {
  type: v.literal('command'),
  run: described(
    Words,
    'The program and its arguments. {input}, {output}, {out}, {stem}, {language}, {from}, {to}, {voice} and {speed} are replaced.',
  ),
  ...Common,
};

const Voice = v.union([
  Name,
  v.strictObject({ auto: v.optional(Name), female: v.optional(Name), male: v.optional(Name) }),
]);
const voices = {
  voices: v.optional(
    described(v.record(Language, Voice), 'The voice of each language: a name, or {"female": …, "male": …}.'),
  ),
};

const CONTEXT = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(50));

const RecognizeEntry = v.variant('type', [
  v.strictObject(openai),
  v.strictObject(sherpa),
  v.strictObject({
    ...command,
    format: v.optional(
      described(v.picklist(['srt', 'verbose_json']), 'What the program writes. Default: srt.'),
    ),
  }),
]);
const TranslateEntry = v.variant('type', [
  v.strictObject({
    ...openai,
    context: v.optional(described(CONTEXT, 'Cues before and after that the model sees. Default: 5.')),
    instructions: v.optional(described(Name, 'What the model should know: names, tone, words to keep.')),
  }),
  v.strictObject({ type: v.literal('libretranslate'), ...Address, ...Common }),
  v.strictObject(command),
]);
const SpeakEntry = v.variant('type', [
  v.strictObject({ ...openai, ...voices }),
  v.strictObject({ ...sherpa, ...voices }),
  v.strictObject({ ...command, ...voices }),
]);
const SeparateEntry = v.variant('type', [
  v.strictObject({
    ...command,
    vocals: described(Name, 'File of the voice, below {out}.'),
    background: described(Name, 'File of everything else, below {out}.'),
  }),
]);

/** The engines that come with vloc, by the name that stands for each in the file. */
export const BUILT_IN = {
  recognize: 'pocketsphinx',
  translate: 'apertium',
  speak: 'espeak-ng',
  separate: 'builtin',
} as const satisfies Record<BackendStep, string>;

/** One step: engines in order of preference. */
const list = <const Entry extends v.GenericSchema, const Builtin extends string>(
  entry: Entry,
  builtin: Builtin,
  what: string,
) =>
  v.optional(
    described(
      v.pipe(v.array(v.union([v.literal(builtin), entry])), v.minLength(1, 'must have at least one engine')),
      `Engines that ${what}, the preferred one first. The first that supports the language is used.`,
    ),
  );

export const EnginesFile = v.strictObject({
  $schema: v.optional(v.string()),
  recognize: list(RecognizeEntry, BUILT_IN.recognize, 'recognize speech'),
  translate: list(TranslateEntry, BUILT_IN.translate, 'translate'),
  speak: list(SpeakEntry, BUILT_IN.speak, 'speak'),
  separate: list(SeparateEntry, BUILT_IN.separate, 'separate voice and background'),
});

/** A checked `engines.json`. A step that it does not name uses the built-in engine. */
export type EnginesConfig = v.InferOutput<typeof EnginesFile>;

/** One entry of a step, other than a built-in engine. */
export type EntryOf<S extends BackendStep> = Exclude<NonNullable<EnginesConfig[S]>[number], string>;

/** An entry of one type, such as `TypedEntry<'speak', 'openai'>`. */
export type TypedEntry<S extends BackendStep, T extends string> = Extract<EntryOf<S>, { readonly type: T }>;

/** Where the key of a server is. */
export type KeySource = v.InferOutput<typeof Key>;
