/** Stores secrets in the keychain or in the profiles file, and reads them when they are needed. */
import { configurationFailure, type Failure } from '../base/failure.ts';
import { type Environment, readVariable } from './environment.ts';
import { createKeychain, KEYCHAIN_LIMIT_MS, type Keychain, KeychainUnavailable } from './keychain.ts';
import type { Warn } from './private-file.ts';
import { runSecretCommand } from './secret-command.ts';
import type { SecretSource } from './settings.ts';

export const SECRET_STORES = ['file', 'keychain'] as const;
export type SecretStore = (typeof SECRET_STORES)[number];

/** Long enough to type the password of the keychain. */
const PERSON_LIMIT_MS = 60_000;

export interface SecretKeeper {
  /**
   * Stores a secret under a new place. Without a choice that is the keychain, or the file where there is none.
   * @throws Failure (`configuration`) when the keychain was chosen and cannot be used
   */
  store(secret: string, chosen: SecretStore | undefined): Promise<SecretSource>;
  /** @throws Failure (`configuration`) */
  fetch(source: SecretSource, signal?: AbortSignal): Promise<string>;
  /** Removes a secret from the keychain; prints a note when that fails. */
  forget(source: SecretSource): Promise<void>;
}

interface KeeperOptions {
  readonly env: Environment;
  /** Whether a person can answer a question of the keychain; called before one may appear. */
  readonly isAttended: () => boolean;
  readonly note: (text: string) => void;
  /** Longest time for storing, in milliseconds; default three seconds. */
  readonly limitMs?: number;
}

/** Nothing is started before the first secret. */
export function createSecretKeeper({ env, isAttended, note, limitMs }: KeeperOptions): SecretKeeper {
  const writing = createKeychain(env, limitMs ?? KEYCHAIN_LIMIT_MS);
  // The second secret of a profile need not try a keychain that has failed.
  let isAway = false;
  return {
    async store(secret, chosen) {
      const off = isOn(readVariable(env, 'VLOC_NO_KEYCHAIN'));
      if (chosen === 'file' || (chosen === undefined && (off || isAway)))
        return { type: 'file', value: secret };
      // A new place for each: two folders of profiles may have the same names.
      // Asked for here: it takes longer to load than all else that shells wait for at a press of Tab.
      const account = process.getBuiltinModule('node:crypto').randomUUID();
      try {
        await writing.write(account, secret);
        return { type: 'keychain', account };
      } catch (error) {
        if (!(error instanceof KeychainUnavailable)) throw error;
        if (chosen === 'keychain') throw keychainFailure(error);
        isAway = true;
        note(`No keychain can be used (${error.message}); the secret goes to the file of the profiles.`);
        return { type: 'file', value: secret };
      }
    },
    async fetch(source, signal) {
      switch (source.type) {
        case 'file':
          return source.value;
        case 'command':
          return runSecretCommand(source.command, { env, ...(signal === undefined ? {} : { signal }) });
        case 'keychain':
          return fetchFromKeychain(
            isAttended() ? createKeychain(env, PERSON_LIMIT_MS) : writing,
            source.account,
          );
      }
    },
    async forget(source) {
      if (source.type !== 'keychain') return;
      try {
        await writing.remove(source.account);
      } catch (error) {
        if (!(error instanceof KeychainUnavailable)) throw error;
        note(`The secret stays in the keychain, entry "vloc" ${source.account}: ${error.message}.`);
      }
    },
  };
}

/** A key or a secret without the line break that `echo`, editors and files of Windows add. @param name of it, for the warning */
export function withoutLineBreak(text: string, name: string, warn: Warn): string {
  const bare = text.replace(/(?:\r?\n|\r)$/, '');
  if (bare !== text && bare !== '')
    warn(`${name} ended in a line break, which was removed: \`printf %s\` writes none.`);
  return bare;
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== '0';
}

async function fetchFromKeychain(keychain: Keychain, account: string): Promise<string> {
  try {
    const secret = await keychain.read(account);
    if (secret !== null) return secret;
  } catch (error) {
    if (!(error instanceof KeychainUnavailable)) throw error;
    throw configurationFailure(
      'KEYCHAIN_UNAVAILABLE',
      `the secret is in the keychain, which cannot be read: ${error.message}`,
      'Unlock the keychain, or set VLOC_SECRET for this run.',
      {},
      { cause: error },
    );
  }
  throw configurationFailure(
    'SECRET_NOT_FOUND',
    'the secret of the profile is no longer in the keychain',
    'Store it again: `vloc profile add NAME --replace`.',
  );
}

function keychainFailure(error: KeychainUnavailable): Failure {
  return configurationFailure(
    'KEYCHAIN_UNAVAILABLE',
    `the keychain cannot be used: ${error.message}`,
    'Unlock it, or keep the secret in the file of the profiles: --store file.',
    {},
    { cause: error },
  );
}
