/** Commands on stored profiles, except `profile add`. */

import * as v from 'valibot';
import { checkProfileName, findProfile, LOCAL, type Profile } from '../../profiles/profile.ts';
import {
  readSources,
  resolveSettings,
  type SettingSources,
  unknownProfileFailure,
} from '../../profiles/resolve.ts';
import {
  describeOrigin,
  isSecret,
  SETTING_NAMES,
  SETTINGS,
  type SecretSource,
  type Setting,
  type Settings,
} from '../../profiles/settings.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { createKeeper } from '../context/connection.ts';
import { describeList, NullableText } from '../context/output-schemas.ts';
import { printList, printRecord, type RecordForm } from '../context/records.ts';
import {
  forgetSecrets,
  PROFILE_FIELDS,
  PROFILE_LIST,
  PROFILE_RECORD,
  PROFILES,
  profileStore,
  showProfile,
  showProfiles,
} from './profiles.ts';

const SHOWN_SETTINGS = describeList(
  v.object({ setting: v.string(), value: NullableText, origin: NullableText }),
);

export const profileList: Command = defineCommand({
  options: {},
  fields: () => PROFILE_FIELDS,
  examples: [
    { command: 'vloc profile list', explains: 'all profiles, the embedded service first' },
    { command: 'vloc profile list --output id', explains: 'only their names' },
  ],
  prints: PROFILE_LIST,
  run: async (context) => {
    const data = showProfiles(await profileStore(context).read());
    await printList(context, PROFILES, { data });
    return 0;
  },
});

export const profileUse: Command = defineCommand({
  operands: { name: 'name', count: 'one', help: 'name of the profile; `local` is the embedded service' },
  options: {},
  fields: () => PROFILE_FIELDS,
  examples: [
    { command: 'vloc profile use prod', explains: 'the default unless a command names another profile' },
    { command: 'vloc profile use local', explains: 'use the embedded service again' },
  ],
  prints: PROFILE_RECORD,
  run: async (context, [name = '']) => {
    const store = profileStore(context);
    await store.change(({ current: _before, ...document }) => {
      if (name === LOCAL) return document;
      if (findProfile(document, name) === undefined) throw unknownProfileFailure(name, document, store.path);
      return { ...document, current: name };
    });
    const used = showProfiles(await store.read()).find((profile) => profile.name === name);
    if (used !== undefined) await printRecord(context, PROFILES, used);
    return 0;
  },
});

export const profileRemove: Command = defineCommand({
  operands: { name: 'name', count: 'one', help: 'name of the profile' },
  options: {},
  fields: () => PROFILE_FIELDS,
  examples: [
    { command: 'vloc profile remove staging', explains: 'also removes its secrets from the keychain' },
    {
      command: 'vloc profile list -o id | grep ^test- | xargs -n 1 vloc profile remove',
      explains: 'all profiles whose names start with test-',
    },
  ],
  prints: PROFILE_RECORD,
  run: async (context, [name = '']) => {
    checkProfileName(name);
    const store = profileStore(context);
    let removed: Profile | undefined;
    await store.change(({ current, ...document }) => {
      removed = findProfile(document, name);
      if (removed === undefined) throw unknownProfileFailure(name, document, store.path);
      const profiles = document.profiles.filter((profile) => profile.name !== name);
      const kept = { ...document, profiles };
      if (current === undefined) return kept;
      if (current !== name) return { ...kept, current };
      context.terminal.note('It was in use; runs go to the embedded service now.');
      return kept;
    });
    if (removed === undefined) return 0;
    await forgetSecrets(createKeeper(context), removed);
    await printRecord(context, PROFILES, showProfile(removed, undefined));
    return 0;
  },
});

interface ShownSetting {
  readonly setting: string;
  /** Null if nothing is set; for a secret, where it is stored. */
  readonly value: string | null;
  readonly origin: string | null;
}

const SHOWN: RecordForm<ShownSetting> = {
  plural: 'settings',
  idOf: ({ setting }) => setting,
  columns: [
    { head: 'SETTING', field: 'setting' },
    { head: 'VALUE', field: 'value' },
    { head: 'FROM', field: 'origin' },
  ],
};

export const profileShow: Command = defineCommand({
  operands: {
    name: 'name',
    count: 'any',
    parts: { '[name]': 'profile to show (default: the one that a run would use)' },
  },
  options: {},
  fields: () => ['setting', 'value', 'origin'],
  examples: [
    { command: 'vloc profile show', explains: 'the settings in use, and where each is set' },
    { command: 'vloc profile show prod', explains: 'the same with --profile prod' },
  ],
  notes: [
    'Flags override the environment, which overrides the project file (vloc.config.json), which overrides the default ' +
      'profile. A profile named by a flag, VLOC_PROFILE or the project file ranks directly below that place.',
  ],
  prints: SHOWN_SETTINGS,
  run: async (context, [name]) => {
    const { io, service, terminal } = context;
    const flags = name === undefined ? service : { ...service, profile: name };
    const sources = await readSources({ ...io, flags, warn: terminal.warn });
    const data = [...showSettings(resolveSettings(sources)), ...showDefaults(sources)];
    await printList(context, SHOWN, { data });
    return 0;
  },
});

function showSettings(settings: Settings): ShownSetting[] {
  return SETTING_NAMES.map((name) => {
    // The embedded service has a state folder instead of an address.
    if (name === 'baseUrl' && settings.baseUrl.value === null) return show('state_dir', settings.stateDir);
    return show(SETTINGS[name].field, isSecret(name) ? mask(settings[name]) : settings[name]);
  });
}

function show(name: string, found: Setting<string | null> | null): ShownSetting {
  if (found === null) return { setting: name, value: null, origin: null };
  return { setting: name, value: found.value, origin: describeOrigin(found.origin) };
}

const PLACES: Readonly<Record<SecretSource['type'], string>> = {
  file: '******',
  keychain: '****** (keychain)',
  command: '****** (command)',
};

function mask(secret: Setting<SecretSource> | null): Setting<string> | null {
  return secret === null ? null : { value: PLACES[secret.value.type], origin: secret.origin };
}

function showDefaults({ project }: SettingSources): ShownSetting[] {
  if (project === null) return [];
  const origin = describeOrigin({ type: 'project', path: project.path });
  return Object.entries(project.settings.defaults ?? {}).map(([name, value]) => ({
    setting: `defaults.${name}`,
    value: typeof value === 'string' ? value : JSON.stringify(value),
    origin,
  }));
}
