/** What the commands on profiles share: their store, and how a profile is shown. */

import type { Context } from '../context/context.ts';
import type { RecordForm } from '../context/records.ts';
import { configFolder } from '../profiles/folders.ts';
import { LOCAL, type Profile, type ProfileDocument } from '../profiles/profile.ts';
import type { SecretKeeper } from '../profiles/secrets.ts';
import {
  assemble,
  PROFILE_SECRETS,
  PROFILE_TEXTS,
  type ProfileName,
  rowOf,
  SETTINGS,
  type SecretSource,
  type SettingRows,
} from '../profiles/settings.ts';
import { openProfileStore, type ProfileStore } from '../profiles/store.ts';

/** The store of the user who runs the command. */
export function profileStore({ io, terminal }: Context): ProfileStore {
  return openProfileStore(configFolder(io.env, io.platform), terminal.warn);
}

type TextField = SettingRows[(typeof PROFILE_TEXTS)[number]]['field'];
type SecretField = SettingRows[(typeof PROFILE_SECRETS)[number]]['field'];

/** A profile as it may be shown: no secret, only where it lies. */
export type ShownProfile = { readonly name: string; readonly in_use: boolean } & {
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

/** One profile; `local` has a name alone. */
export function showProfile(
  profile: Pick<Profile, 'name'> & Partial<Profile>,
  current: string | undefined,
): ShownProfile {
  const { name } = profile;
  return assemble<ShownProfile>([
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

/** Takes all secrets of a profile out of the keychain. */
export async function forgetSecrets(keeper: SecretKeeper, profile: Profile): Promise<void> {
  for (const name of PROFILE_SECRETS) {
    const source = profile[SETTINGS[name].field];
    if (source !== undefined) await keeper.forget(source);
  }
}
