/** What the commands on profiles share: their store, and how a profile is shown. */
import { configFolder } from '../profiles/folders.ts';
import { LOCAL, type Profile, type ProfileDocument, type SecretSource } from '../profiles/profile.ts';
import { openProfileStore, type ProfileStore } from '../profiles/store.ts';
import type { Context } from './context.ts';
import type { RecordForm } from './records.ts';

/** The store of the user who runs the command. */
export function profileStore({ io, terminal }: Context): ProfileStore {
  return openProfileStore(configFolder(io.env, io.platform), terminal.warn);
}

/** A profile as it may be shown: no secret, only where it lies. */
export interface ShownProfile {
  readonly name: string;
  readonly in_use: boolean;
  readonly base_url: string | null;
  readonly key: string | null;
  readonly header_prefix: string | null;
  readonly secret_in: SecretSource['type'] | null;
  readonly webhook_secret_in: SecretSource['type'] | null;
}

export const PROFILE_FIELDS = [
  'name',
  'in_use',
  'base_url',
  'key',
  'header_prefix',
  'secret_in',
  'webhook_secret_in',
] as const satisfies readonly (keyof ShownProfile)[];

export const PROFILES: RecordForm<ShownProfile> = {
  plural: 'profiles',
  idOf: ({ name }) => name,
  columns: [
    { head: 'PROFILE', field: 'name' },
    { head: 'IN USE', field: 'in_use', text: ({ in_use }) => (in_use ? 'yes' : '-') },
    { head: 'BASE URL', field: 'base_url', text: ({ base_url }) => base_url ?? '(embedded service)' },
    { head: 'KEY', field: 'key' },
    { head: 'SECRET IN', field: 'secret_in' },
  ],
};

/** The embedded service first, then the stored ones. */
export function showProfiles(document: ProfileDocument): readonly ShownProfile[] {
  const local: ShownProfile = {
    name: LOCAL,
    in_use: (document.current ?? LOCAL) === LOCAL,
    base_url: null,
    key: null,
    header_prefix: null,
    secret_in: null,
    webhook_secret_in: null,
  };
  return [local, ...document.profiles.map((profile) => showProfile(profile, document.current))];
}

/** One stored profile. */
export function showProfile(profile: Profile, current: string | undefined): ShownProfile {
  return {
    name: profile.name,
    in_use: profile.name === current,
    base_url: profile.base_url,
    key: profile.key,
    header_prefix: profile.header_prefix ?? null,
    secret_in: profile.secret.type,
    webhook_secret_in: profile.webhook_secret?.type ?? null,
  };
}
