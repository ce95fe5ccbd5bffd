import { type Command, defineCommand } from '../context/command.ts';
import { printList, type RecordForm } from '../context/records.ts';
import { readSources, resolveSettings, type SettingSources } from '../profiles/resolve.ts';
import {
  describeOrigin,
  isSecret,
  SETTING_NAMES,
  SETTINGS,
  type SecretSource,
  type Setting,
  type Settings,
} from '../profiles/settings.ts';

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
    written: '[name]',
    help: 'profile to show in place of the one that a run would use',
  },
  options: {},
  fields: () => ['setting', 'value', 'origin'],
  examples: [
    { command: 'vloc profile show', explains: 'the settings in use, and where each is set' },
    { command: 'vloc profile show prod', explains: 'the same with --profile prod' },
  ],
  notes: [
    'A flag wins over the environment, that over the project file (vloc.config.json), that over the profile in use. A profile ' +
      'that a flag, VLOC_PROFILE or the project file names counts as set there.',
  ],
  run: async (context, [name]) => {
    const { io, service, terminal } = context;
    const flags = name === undefined ? service : { ...service, profile: name };
    const sources = await readSources({ ...io, flags, warn: terminal.warn });
    const data = [...showSettings(resolveSettings(sources)), ...showDefaults(sources)];
    await printList(context, SHOWN, { data, has_more: false, next_cursor: null });
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
