/** Profiles as the commands read, store and show them. */

import * as v from 'valibot';
import type { Failure } from '../../base/failure.ts';
import { flagOption, type Option, type OptionValues, textOption } from '../../base/option.ts';
import { parseBaseUrl } from '../../client/transport/request.ts';
import { configFolder } from '../../profiles/environment.ts';
import { LOCAL, type Profile, type ProfileDocument } from '../../profiles/profile.ts';
import { cleanSecret } from '../../profiles/secret-command.ts';
import type { SecretKeeper } from '../../profiles/secrets.ts';
import {
  assembleSettings,
  flagOf,
  isSecret,
  type OptionalName,
  PROFILE_SECRETS,
  PROFILE_TEXTS,
  type ProfileName,
  type RequiredName,
  rowOf,
  SETTING_NAMES,
  SETTINGS,
  type SecretName,
  type SecretSource,
  type SettingName,
  type SettingRows,
} from '../../profiles/settings.ts';
import { openProfileStore, type ProfileStore } from '../../profiles/store.ts';
import { describeInvalidPrices, parsePrices } from '../../protocol/prices.ts';
import { invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { describeList, describeRecord, NullableText } from '../context/output-schemas.ts';
import type { RecordForm } from '../context/records.ts';

/** The store of the user who runs the command. */
export function profileStore({ io, terminal }: Context): ProfileStore {
  return openProfileStore(configFolder(io.env, io.platform), terminal.warn);
}

type TextField = SettingRows[(typeof PROFILE_TEXTS)[number]]['field'];
type SecretField = SettingRows[(typeof PROFILE_SECRETS)[number]]['field'];

/** A profile without its secrets: only where they are stored. */
type ShownProfile = { readonly name: string; readonly in_use: boolean } & {
  readonly [Field in TextField]: string | null;
} & {
  readonly [Field in `${SecretField}_in`]: SecretSource['type'] | null;
};

type Column = RecordForm<ShownProfile>['columns'][number];

const textFields = PROFILE_TEXTS.map((name) => SETTINGS[name].field);
const placeFields = PROFILE_SECRETS.map((name) => `${SETTINGS[name].field}_in` as const);

export const PROFILE_FIELDS: readonly (keyof ShownProfile)[] = [
  'name',
  'in_use',
  ...textFields,
  ...placeFields,
];

const ProfileSchema = v.object({
  ...Object.fromEntries(PROFILE_FIELDS.map((field) => [field, NullableText])),
  name: v.string(),
  in_use: v.boolean(),
});

export const PROFILE_RECORD = describeRecord(ProfileSchema);

export const PROFILE_LIST = describeList(ProfileSchema);

export const PROFILES: RecordForm<ShownProfile> = {
  plural: 'profiles',
  idOf: ({ name }) => name,
  columns: [
    { head: 'PROFILE', field: 'name' },
    { head: 'IN USE', field: 'in_use', text: ({ in_use }) => (in_use ? 'yes' : '-') },
    ...PROFILE_TEXTS.flatMap((name) => columnOf(name, SETTINGS[name].field)),
    ...PROFILE_SECRETS.flatMap((name) => columnOf(name, `${SETTINGS[name].field}_in`)),
  ],
};

function columnOf(name: ProfileName, field: keyof ShownProfile): readonly Column[] {
  const { column } = rowOf(name);
  if (column === undefined) return [];
  const { head, none } = column;
  return [none === undefined ? { head, field } : { head, field, text: (row) => String(row[field] ?? none) }];
}

/** The embedded service first, then the stored ones. */
export function showProfiles(document: ProfileDocument): readonly ShownProfile[] {
  const { current = LOCAL, profiles } = document;
  return [{ name: LOCAL }, ...profiles].map((profile) => showProfile(profile, current));
}

/** One profile; `local` has only a name. */
export function showProfile(
  profile: Pick<Profile, 'name'> & Partial<Profile>,
  current: string | undefined,
): ShownProfile {
  const { name } = profile;
  return assembleSettings<ShownProfile>([
    ['name', name],
    ['in_use', name === current],
    ...PROFILE_TEXTS.map((setting) => {
      const { field } = SETTINGS[setting];
      return [field, profile[field] ?? null] as const;
    }),
    ...PROFILE_SECRETS.map((setting) => {
      const { field } = SETTINGS[setting];
      return [`${field}_in`, profile[field]?.type ?? null] as const;
    }),
  ]);
}

/** Removes all secrets of a profile from the keychain. */
export async function forgetSecrets(keeper: SecretKeeper, profile: Profile): Promise<void> {
  for (const name of PROFILE_SECRETS) {
    const source = profile[SETTINGS[name].field];
    if (source !== undefined) await keeper.forget(source);
  }
}

type OptionName = {
  [Name in SettingName]: SettingRows[Name] extends { option: object } ? Name : never;
}[SettingName];
type TextName = (typeof PROFILE_TEXTS)[number];

type InputOptions = { readonly [Name in OptionName]: SettingRows[Name]['option'] } & {
  readonly [Name in `${SecretName}Stdin`]: Option<boolean>;
} & {
  readonly [Name in `${SecretName}Command`]: Option<string | undefined>;
};

type InputEntry = readonly [keyof InputOptions, InputOptions[keyof InputOptions]];

const hasOption = (name: SettingName): name is OptionName => 'option' in SETTINGS[name];

export const INPUT_OPTIONS: InputOptions = assembleSettings<InputOptions>(
  SETTING_NAMES.flatMap((name): InputEntry[] => {
    if (hasOption(name)) return [[name, SETTINGS[name].option]];
    if (!isSecret(name)) return [];
    const { stdin, command } = SETTINGS[name];
    return [
      [`${name}Stdin`, flagOption(stdin)],
      [`${name}Command`, textOption('command', command)],
    ];
  }),
);

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
 * Collects all settings of a new profile before anything is checked or stored.
 * @throws Failure (`usage`) for a missing setting without a terminal, (`configuration`) for an invalid address
 */
export async function readProfileInput(context: Context, options: Given): Promise<ProfileInput> {
  for (const name of PROFILE_SECRETS) {
    if (options[`${name}Stdin`] && options[`${name}Command`] !== undefined)
      throw flagConflictFailure(flagOf(name));
  }
  const texts: [TextName, string | undefined][] = [];
  for (const name of PROFILE_TEXTS) texts.push([name, await readText(name, context, options)]);
  const isPiped = PROFILE_SECRETS.some((name) => options[`${name}Stdin`]);
  const lines = isPiped ? await readLines(context) : [];
  const secrets: [SecretName, GivenSecret | undefined][] = [];
  for (const name of PROFILE_SECRETS) secrets.push([name, await readSecret(name, lines, context, options)]);
  return assembleSettings<ProfileInput>([...texts, ...secrets]);
}

async function readText(name: TextName, context: Context, options: Given): Promise<string | undefined> {
  const row = rowOf(name);
  const given = hasOption(name) ? options[name] : context.service[name];
  const text =
    given === undefined && row.inProfile === 'required'
      ? await context.terminal.ask({ text: row.question, typed: 'shown', flag: flagOf(name) })
      : given;
  if (name === 'price' && text !== undefined && parsePrices(text) === null) {
    throw invalidCallFailure(describeInvalidPrices(flagOf(name), text), 'Correct it.');
  }
  if (name !== 'baseUrl' || text === undefined) return text;
  parseBaseUrl(text);
  return text.replace(/\/+$/, '');
}

/** @param lines of stdin, one for each secret */
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

function flagConflictFailure(flag: string): Failure {
  return invalidCallFailure(`${flag}-stdin and ${flag}-command cannot be combined`, 'Leave one of them out.');
}

/** Far more than two secrets. */
const LARGEST_BYTES = 64 * 1024;

async function readLines({ io }: Context): Promise<string[]> {
  if (io.stdin.isTTY === true) {
    throw invalidCallFailure(
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
      throw invalidCallFailure('stdin contains more than secrets', 'Pipe in the secret alone.');
  }
  return Buffer.concat(chunks).toString('utf8').split(/\r?\n/);
}

function checkSecret(text: string, where: string): GivenSecret {
  const value = cleanSecret(text);
  if (value !== null) return { type: 'value', value };
  throw invalidCallFailure(
    `no secret from ${where}: it is empty, or has spaces or control characters`,
    'Give it on one line, without spaces.',
  );
}
