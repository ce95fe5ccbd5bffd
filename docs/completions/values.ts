/** The values that the shells offer: choices from the tables, otherwise by the value name in the help. */

import type { ValueSource } from '../../src/commands/completion-values.ts';
import type { Command, Operands, OptionSpec } from '../../src/context/command.ts';
import { KIND_CHOICES } from '../../src/workflow/jobs/list-jobs.ts';

export type Value = {
  /** What the help calls it. */
  readonly name: string;
  /** Several, separated by commas. */
  readonly list: boolean;
} & (
  | { readonly type: 'choices'; readonly choices: readonly string[] }
  /** Asked from `vloc completion values SOURCE` when they are needed. */
  | { readonly type: 'source'; readonly source: ValueSource }
  | { readonly type: 'files' | 'folders' }
  /** `@` and the path of a file. */
  | { readonly type: 'at-file' }
  /** Only the person knows: a time, a number, an address. */
  | { readonly type: 'free' }
);

type Offer = Value extends infer Each ? (Each extends Value ? Omit<Each, 'name' | 'list'> : never) : never;

const FREE: Offer = { type: 'free' };
const KINDS: Offer = { type: 'choices', choices: KIND_CHOICES };

/** Names of operands; others are free. */
const OPERANDS: Readonly<Record<string, Offer>> = {
  input: { type: 'files' },
  file: { type: 'files' },
  dir: { type: 'folders' },
};

/** The same, where the name alone says too little: what the words of the command begin with decides. */
const IDS: Readonly<Record<string, Offer>> = {
  'jobs id': { type: 'source', source: 'jobs' },
  'upload id': { type: 'source', source: 'uploads' },
  'profile name': { type: 'source', source: 'profiles' },
};

/** Names of the values of options; others are free. */
const VALUES: Readonly<Record<string, Offer>> = {
  dir: { type: 'folders' },
  file: { type: 'files' },
  '@file': { type: 'at-file' },
  json: { type: 'at-file' },
  kind: KINDS,
  kinds: KINDS,
  job: { type: 'source', source: 'jobs' },
};

export function valueOfOperands(operands: Operands, words: readonly string[]): Value {
  const { name, choices } = operands;
  if (choices !== undefined) return { type: 'choices', choices, name, list: false };
  const offer = IDS[`${words[0]} ${name}`] ?? OPERANDS[name] ?? FREE;
  return { ...offer, name, list: false };
}

/** Null for a flag. */
export function valueOfOption(option: string, spec: OptionSpec, command: Command): Value | null {
  switch (spec.type) {
    case 'flag':
      return null;
    case 'choice':
      return { type: 'choices', choices: spec.choices, name: 'choice', list: false };
    default:
      return { ...offerOf(option, spec.value, command), name: spec.value, list: spec.type === 'list' };
  }
}

function offerOf(option: string, name: string, command: Command): Offer {
  if (option === 'profile') return { type: 'source', source: 'profiles' };
  switch (name) {
    case 'names':
      return command.fields === undefined ? FREE : { type: 'choices', choices: command.fields() };
    // The language to produce: of a translation where the command also has one to translate from, else of a voice.
    case 'tags':
      return { type: 'source', source: 'from' in command.options ? 'translation-targets' : 'voices' };
    case 'tag':
      return { type: 'source', source: 'to' in command.options ? 'translation-sources' : 'recognized' };
  }
  return VALUES[name] ?? FREE;
}
