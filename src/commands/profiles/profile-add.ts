import { Failure, usageFailure } from '../../base/failure.ts';
import { choiceOption, flagOption } from '../../base/option.ts';
import { mayMeanPrefix } from '../../client/transport/error-class.ts';
import { usualPrefixes } from '../../profiles/header-prefixes.ts';
import { checkProfileName, findProfile, type Profile, type ProfileDocument } from '../../profiles/profile.ts';
import { runSecretCommand } from '../../profiles/secret-command.ts';
import { SECRET_STORES, type SecretKeeper, type SecretStore } from '../../profiles/secrets.ts';
import {
  assembleSettings,
  PROFILE_SECRETS,
  PROFILE_TEXTS,
  SETTINGS,
  type SecretSource,
} from '../../profiles/settings.ts';
import { DEFAULT_HEADER_PREFIX } from '../../protocol/headers.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { createKeeper, createRemoteClient } from '../context/connection.ts';
import type { Context } from '../context/context.ts';
import { writeCommand } from '../context/printed-command.ts';
import { printRecord } from '../context/records.ts';
import {
  forgetSecrets,
  type GivenSecret,
  INPUT_OPTIONS,
  PROFILE_FIELDS,
  PROFILE_RECORD,
  PROFILES,
  type ProfileInput,
  profileStore,
  readProfileInput,
  showProfile,
} from './profiles.ts';

export const profileAdd: Command = defineCommand({
  operands: { name: 'name', count: 'one', help: 'name of the profile' },
  options: {
    ...INPUT_OPTIONS,
    store: choiceOption(
      SECRET_STORES,
      'where to save the secrets (default: the system keychain, else the file)',
    ),
    replace: flagOption('replace an existing profile of this name'),
    noCheck: flagOption('save without checking the key with the service'),
  },
  fields: () => PROFILE_FIELDS,
  examples: [
    { command: 'vloc profile add prod', explains: 'asks for address, key and secret' },
    {
      command:
        'pass show vloc | vloc profile add prod --base-url https://api.example.com/v1 --key vk_prod --secret-stdin',
      explains: 'from a script; the secret is never an argument',
    },
    {
      command:
        "vloc profile add prod --base-url https://api.example.com/v1 --key vk_prod --secret-command 'pass show vloc'",
      explains: 'the secret stays in the password manager',
    },
  ],
  notes: [
    'Without --header-prefix the usual ones are tried, and the one that works is saved.',
    'The first profile becomes the default; `vloc profile use` chooses another. Only you can read the file.',
  ],
  prints: PROFILE_RECORD,
  run: async (context, [name = ''], options) => {
    checkProfileName(name);
    const store = profileStore(context);
    refuseTaken(await store.read(), name, options.replace);
    const given = await readProfileInput(context, options);
    if (options.noCheck) await checkForm(context, given);
    const input = options.noCheck ? given : { ...given, ...(await checkService(context, given)) };
    const keeper = createKeeper(context);
    const profile = await makeProfile(name, input, keeper, options.store);
    let replaced: Profile | undefined;
    let current: string | undefined;
    try {
      await store.change((document) => {
        replaced = refuseTaken(document, name, options.replace);
        const others = document.profiles.filter((other) => other.name !== name);
        current = document.current ?? (document.profiles.length === 0 ? name : undefined);
        return { version: 1, ...(current === undefined ? {} : { current }), profiles: [...others, profile] };
      });
    } catch (error) {
      await forgetSecrets(keeper, profile);
      throw error;
    }
    if (replaced !== undefined) await forgetSecrets(keeper, replaced);
    await printRecord(context, PROFILES, showProfile(profile, current));
    context.terminal.note(
      current === name
        ? 'Runs use it from now on.'
        : `Use it with --profile ${name}, or always: ${writeCommand(context, ['profile', 'use', name])}`,
    );
    return 0;
  },
});

/** The profile that will be replaced, if it exists. @throws Failure (`usage`) without --replace */
function refuseTaken(document: ProfileDocument, name: string, replace: boolean): Profile | undefined {
  const found = findProfile(document, name);
  if (found === undefined || replace) return found;
  throw usageFailure(
    'PROFILE_EXISTS',
    `the profile ${name} already exists, for ${found.base_url}`,
    'Choose another name, or replace it with --replace.',
  );
}

/** Checks the format of key and header prefix; sends nothing. */
async function checkForm(context: Context, input: ProfileInput): Promise<void> {
  const { baseUrl, key, headerPrefix = DEFAULT_HEADER_PREFIX } = input;
  const client = await createRemoteClient({ baseUrl, key, secret: 'not sent', headerPrefix }, context);
  await client.close();
}

/**
 * Sends a signed read that costs nothing, with the given header prefix, or with the usual ones until one works.
 * @returns the prefix if it must be stored
 * @throws Failure of the client, before anything is stored
 */
async function checkService(
  context: Context,
  input: ProfileInput,
): Promise<Pick<ProfileInput, 'headerPrefix'>> {
  const secret = await readSecret(input.secret, context);
  // Other secrets are not sent, but a command that fails must not be stored.
  for (const name of PROFILE_SECRETS) if (name !== 'secret') await readSecret(input[name], context);
  const { baseUrl, key, headerPrefix } = input;
  const prefixes = headerPrefix === undefined ? usualPrefixes(baseUrl) : [headerPrefix];
  const refusals: Failure[] = [];
  for (const prefix of prefixes) {
    const credits = await readCredits({ baseUrl, key, secret, headerPrefix: prefix }, context);
    if (!(credits instanceof Failure)) {
      const isDefault = prefix === DEFAULT_HEADER_PREFIX;
      const found = isDefault ? 'The key works' : `The key works with the header prefix ${prefix}`;
      context.terminal.note(`${found}; ${credits} credits are available.`);
      return isDefault ? {} : { headerPrefix: prefix };
    }
    refusals.push(credits);
    if (!mayMeanPrefix(credits)) break;
  }
  throw checkFailure(refusals, prefixes);
}

type Target = Parameters<typeof createRemoteClient>[0];

/** The available credits, or why they could not be read. */
async function readCredits(target: Target, context: Context): Promise<number | Failure> {
  const client = await createRemoteClient(target, context);
  try {
    return (await client.credits.balance({ signal: context.signal })).available_credits;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  } finally {
    await client.close();
  }
}

/** The last refusal is not about the prefix, or else the first one is as good as any. */
function checkFailure(refusals: readonly Failure[], prefixes: readonly string[]): Failure {
  const [first, last] = [refusals[0], refusals.at(-1)];
  if (first === undefined || last === undefined) throw new TypeError('no header prefix was tried');
  const isPrefix = mayMeanPrefix(last);
  const failure = isPrefix ? first : last;
  const { message, advice = '' } = failure.facts;
  const check = `Check the key, the secret and the clock of this machine; if they are right, the service expects another header prefix (tried: ${prefixes.join(', ')}): give it with --header-prefix.`;
  return failure.with({
    message: `the check failed: ${message}`,
    advice: `${isPrefix ? check : advice} Nothing was stored; --no-check stores it without asking.`.trim(),
  });
}

async function readSecret(secret: GivenSecret | undefined, { io, signal }: Context): Promise<string> {
  if (secret?.type === 'command') return runSecretCommand(secret.command, { env: io.env, signal });
  return secret?.value ?? '';
}

async function makeProfile(
  name: string,
  input: ProfileInput,
  keeper: SecretKeeper,
  chosen: SecretStore | undefined,
): Promise<Profile> {
  const sources: [(typeof PROFILE_SECRETS)[number], SecretSource][] = [];
  for (const secret of PROFILE_SECRETS) {
    const given = input[secret];
    if (given === undefined) continue;
    sources.push([secret, given.type === 'command' ? given : await keeper.store(given.value, chosen)]);
  }
  return assembleSettings<Profile>([
    ['name', name],
    ...PROFILE_TEXTS.map((text) => [SETTINGS[text].field, input[text]] as const),
    ...sources.map(([secret, source]) => [SETTINGS[secret].field, source] as const),
  ]);
}
