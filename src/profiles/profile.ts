/** Profiles: a service, a key, and where the secret of the key is stored. */
import { join } from 'node:path';
import { usageFailure } from '../base/failure.ts';
import type { OptionalName, ProfileName, RequiredName, SettingRows, SettingValue } from './settings.ts';

/** A service under a name. Its address ends in `/v1`; https, or http to this machine itself. */
export type Profile = { readonly name: string } & {
  readonly [Name in RequiredName as SettingRows[Name]['field']]: ProfileValue<Name>;
} & {
  readonly [Name in OptionalName as SettingRows[Name]['field']]?: ProfileValue<Name> | undefined;
};

/** The embedded service (null) is never stored. */
type ProfileValue<Name extends ProfileName> = NonNullable<SettingValue<Name>>;

/** The file of the profiles. */
export interface ProfileDocument {
  readonly version: 1;
  /** Name of the profile in use; without it the embedded service is. */
  readonly current?: string | undefined;
  readonly profiles: readonly Profile[];
}

/** Name of their file, without its ending. */
export const PROFILES_NAME = 'profiles';

/** The file of the profiles in a folder of configuration. */
export function profilesPath(folder: string): string {
  return join(folder, `${PROFILES_NAME}.json`);
}

export const NO_PROFILES: ProfileDocument = { version: 1, profiles: [] };

/** The embedded service: it always exists and is never stored. */
export const LOCAL = 'local';

/** The profile of that name, or undefined. */
export function findProfile(document: ProfileDocument, name: string): Profile | undefined {
  return document.profiles.find((profile) => profile.name === name);
}

/** Short enough for a column of a table; characters without a special meaning to shells and file systems. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Checks the name of a profile that is to be stored.
 * @throws Failure (`usage`)
 */
export function checkProfileName(name: string): void {
  if (name === LOCAL) {
    throw usageFailure(
      'PROFILE_NAME_RESERVED',
      `"${LOCAL}" is the embedded service, which always exists`,
      'Choose another name.',
    );
  }
  if (NAME.test(name)) return;
  throw usageFailure(
    'PROFILE_NAME_INVALID',
    `"${name}" cannot be the name of a profile`,
    'Use 1 to 64 letters, digits, dots, hyphens and underscores, with a letter or digit first.',
  );
}
