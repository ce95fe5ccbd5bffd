/** The values that the shells offer: choices from the tables, otherwise by the value name in the help. */

import type { OptionFacts } from '../../src/base/option.ts';
import type { Command, Operands } from '../../src/commands/context/command.ts';
import { KIND_CHOICES } from '../../src/commands/jobs/list-jobs.ts';
import type { ValueSource } from '../../src/commands/tool/completion-values.ts';
import { typesOf } from '../../src/engines/config-check.ts';
import { BACKEND_STEPS } from '../../src/media/work.ts';

export type Value = {
  /** Its name in the help. */
  readonly name: string;
  /** True for several values, separated by commas. */
  readonly list: boolean;
} & (
  | { readonly type: 'choices'; readonly choices: readonly string[] }
  /** Read from `vloc completion values SOURCE` when they are needed. */
  | { readonly type: 'source'; readonly source: ValueSource }
  | { readonly type: 'files' | 'folders' }
  /** `@` followed by the path of a file. */
  | { readonly type: 'at-file' }
  /** A value that only the user knows: a time, a number, a URL. */
  | { readonly type: 'free' }
);

type Offer = Value extends infer Each ? (Each extends Value ? Omit<Each, 'name' | 'list'> : never) : never;

const FREE: Offer = { type: 'free' };
const KINDS: Offer = { type: 'choices', choices: KIND_CHOICES };
const ENGINE_TYPES: Offer = { type: 'choices', choices: [...new Set(BACKEND_STEPS.flatMap(typesOf))] };

/** Names of operands. All others are free text. */
const OPERANDS: Readonly<Record<string, Offer>> = {
  input: { type: 'files' },
  file: { type: 'files' },
  dir: { type: 'folders' },
  step: { type: 'choices', choices: BACKEND_STEPS },
  engine: { type: 'source', source: 'engines' },
};

/** The same for names that several commands use: the first words of the command decide. */
const IDS: Readonly<Record<string, Offer>> = {
  'jobs id': { type: 'source', source: 'jobs' },
  'upload id': { type: 'source', source: 'uploads' },
  'profile name': { type: 'source', source: 'profiles' },
};

/** Names of the values of options. All others are free text. */
const VALUES: Readonly<Record<string, Offer>> = {
  dir: { type: 'folders' },
  file: { type: 'files' },
  '@file': { type: 'at-file' },
  json: { type: 'at-file' },
  kind: KINDS,
  kinds: KINDS,
  job: { type: 'source', source: 'jobs' },
  engine: ENGINE_TYPES,
};

export function valueOfOperands(operands: Operands, words: readonly string[]): Value {
  const { name, choices } = operands;
  if (choices !== undefined) return { type: 'choices', choices, name, list: false };
  const offer = IDS[`${words[0]} ${name}`] ?? OPERANDS[name] ?? FREE;
  return { ...offer, name, list: false };
}

/** Null for a flag. */
export function valueOfOption(option: string, facts: OptionFacts, command: Command): Value | null {
  const { type, value, choices } = facts;
  if (value === null) return null;
  if (choices !== undefined) return { type: 'choices', choices, name: value, list: false };
  return { ...offerOf(option, value, command), name: value, list: type === 'list' };
}

function offerOf(option: string, name: string, command: Command): Offer {
  if (option === 'profile') return { type: 'source', source: 'profiles' };
  switch (name) {
    case 'names':
      return command.fields === undefined ? FREE : { type: 'choices', choices: command.fields() };
    // The language to produce: a translation target if the command also has a source language, else the language of a
    // voice.
    case 'tags':
      return { type: 'source', source: 'from' in command.options ? 'translation-targets' : 'voices' };
    case 'tag':
      return { type: 'source', source: 'to' in command.options ? 'translation-sources' : 'recognized' };
  }
  return VALUES[name] ?? FREE;
}
