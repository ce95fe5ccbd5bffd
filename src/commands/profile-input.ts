/** What a new profile is made of, from flags, from stdin, and from questions on a terminal. */
import { parseBaseUrl } from '../client/transport/base-url.ts';
import type { OptionTable, OptionValues } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { usageFailure } from '../context/usage-failure.ts';
import type { Failure } from '../errors/failure.ts';
import { cleanSecret } from '../profiles/secret-command.ts';
import {
  assemble,
  flagOf,
  isSecret,
  type OptionalName,
  PROFILE_SECRETS,
  PROFILE_TEXTS,
  type RequiredName,
  rowOf,
  SETTING_NAMES,
  SETTINGS,
  type SecretName,
  type SettingName,
  type SettingRows,
} from '../profiles/settings.ts';

type OptionName = {
  [Name in SettingName]: SettingRows[Name] extends { option: object } ? Name : never;
}[SettingName];
type TextName = (typeof PROFILE_TEXTS)[number];

type InputOptions = { readonly [Name in OptionName]: SettingRows[Name]['option'] } & {
  readonly [Option in `${SecretName}Stdin`]: { readonly type: 'flag'; readonly help: string };
} & {
  readonly [Option in `${SecretName}Command`]: {
    readonly type: 'text';
    readonly value: string;
    readonly help: string;
  };
};

type InputEntry = readonly [keyof InputOptions, InputOptions[keyof InputOptions]];

const hasOption = (name: SettingName): name is OptionName => 'option' in SETTINGS[name];

export const INPUT_OPTIONS: InputOptions = assemble<InputOptions>(
  SETTING_NAMES.flatMap((name): InputEntry[] => {
    if (hasOption(name)) return [[name, SETTINGS[name].option]];
    if (!isSecret(name)) return [];
    const { stdin, command } = SETTINGS[name];
    return [
      [`${name}Stdin`, { type: 'flag', help: stdin }],
      [`${name}Command`, { type: 'text', value: 'command', help: command }],
    ];
  }),
) satisfies OptionTable;

/** A secret itself, or the command that prints it. */
export type GivenSecret =
  | { readonly type: 'value'; readonly value: string }
  | { readonly type: 'command'; readonly command: string };

type InputValue<Name> = Name extends SecretName ? GivenSecret : string;

export type ProfileInput = { readonly [Name in RequiredName]: InputValue<Name> } & {
  readonly [Name in OptionalName]?: InputValue<Name>;
};

type Given = OptionValues<InputOptions>;

/**
 * Collects everything before anything is checked or stored.
 * @throws Failure (`usage`) for what is missing where nobody can be asked, (`configuration`) for a wrong address
 */
export async function readProfileInput(context: Context, options: Given): Promise<ProfileInput> {
  for (const name of PROFILE_SECRETS) {
    if (options[`${name}Stdin`] && options[`${name}Command`] !== undefined) throw twofold(flagOf(name));
  }
  const texts: [TextName, string | undefined][] = [];
  for (const name of PROFILE_TEXTS) texts.push([name, await readText(name, context, options)]);
  const isPiped = PROFILE_SECRETS.some((name) => options[`${name}Stdin`]);
  const lines = isPiped ? await readLines(context) : [];
  const secrets: [SecretName, GivenSecret | undefined][] = [];
  for (const name of PROFILE_SECRETS) secrets.push([name, await readSecret(name, lines, context, options)]);
  return assemble<ProfileInput>([...texts, ...secrets]);
}

async function readText(name: TextName, context: Context, options: Given): Promise<string | undefined> {
  const row = rowOf(name);
  const given = hasOption(name) ? options[name] : context.service[name];
  const text =
    given === undefined && row.inProfile === 'required'
      ? await context.terminal.ask({ text: row.question, typed: 'shown', flag: flagOf(name) })
      : given;
  if (name !== 'baseUrl' || text === undefined) return text;
  parseBaseUrl(text);
  return text.replace(/\/+$/, '');
}

/** @param lines what stdin gave, a line for each secret */
async function readSecret(
  name: SecretName,
  lines: string[],
  { terminal }: Context,
  options: Given,
): Promise<GivenSecret | undefined> {
  const flag = flagOf(name);
  const command = options[`${name}Command`];
  if (command !== undefined) return { type: 'command', command };
  if (options[`${name}Stdin`]) return checkSecret(lines.shift() ?? '', `${flag}-stdin`);
  const row = rowOf(name);
  if (row.inProfile !== 'required') return undefined;
  const typed = await terminal.ask({
    text: row.question,
    typed: 'hidden',
    flag: `${flag}-stdin or ${flag}-command`,
  });
  return checkSecret(typed, `the ${row.field}`);
}

function twofold(flag: string): Failure {
  return usageFailure(`${flag}-stdin and ${flag}-command exclude each other`, 'Leave one of them out.');
}

/** More than two secrets ever need. */
const LARGEST_BYTES = 64 * 1024;

async function readLines({ io }: Context): Promise<string[]> {
  if (io.stdin.isTTY === true) {
    throw usageFailure(
      'stdin is a terminal, which would show the secret',
      'Leave the flag out to be asked for it.',
    );
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of io.stdin) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    if (size > LARGEST_BYTES)
      throw usageFailure('stdin holds more than secrets', 'Pipe in the secret alone.');
  }
  return Buffer.concat(chunks).toString('utf8').split(/\r?\n/);
}

function checkSecret(text: string, where: string): GivenSecret {
  const value = cleanSecret(text);
  if (value !== null) return { type: 'value', value };
  throw usageFailure(
    `no secret from ${where}: it is empty, or has spaces or control characters`,
    'Give it on one line, without spaces.',
  );
}
