/**
 * The settings that choose a service. A new one is a row here: environment, flags, project file, profiles, `vloc profile`
 * and the documents are made from the table.
 */
import { type Option, textOption } from '../base/option.ts';
import { DEFAULT_HEADER_PREFIX } from '../protocol/headers.ts';

type TextOption = Option<string | undefined>;

type SettingRow = {
  /** Its name in vloc.config.json, in profiles.json, and in what `vloc profile` shows. */
  readonly field: string;
  readonly variable: string;
  /** Help text of the variable, for the documents. */
  readonly help: string;
  /** The option, named like the field, that every command takes for it. */
  readonly flag?: TextOption;
  /** Whether vloc.config.json may set it: that file is shared, so no secret and no key. */
  readonly inProject: boolean;
  /** The default; null is the embedded service. */
  readonly default?: string | null;
  /** The option of `profile add` for a setting that is not a global flag. */
  readonly option?: TextOption;
  /** The column of `profile list`, and what it shows for null. */
  readonly column?: { readonly head: string; readonly none?: string };
} & (
  | { readonly isSecret: false }
  // Only its place is shown, and it is removed from the environment. `profile add` reads it from stdin or stores a command.
  | { readonly isSecret: true; readonly stdin: string; readonly command: string }
) &
  (
    | { readonly inProfile: 'never' | 'optional' }
    // `profile add` asks for what a profile cannot do without.
    | { readonly inProfile: 'required'; readonly question: string }
  );

/** In the order in which `profile show`, help and documents name them. */
export const SETTINGS = {
  profile: {
    field: 'profile',
    variable: 'VLOC_PROFILE',
    help: 'name of the profile to use; `local` is the embedded service',
    flag: textOption('name', 'profile to use; `local` is the embedded service', { daily: true }),
    inProject: true,
    inProfile: 'never',
    isSecret: false,
  },
  baseUrl: {
    field: 'base_url',
    variable: 'VLOC_BASE_URL',
    help: 'address of the service, ending in /v1; without it and without a profile the embedded service is used, unless CI is set',
    flag: textOption('url', 'address of the service, ending in /v1'),
    inProject: true,
    inProfile: 'required',
    isSecret: false,
    default: null,
    question: 'Base URL:',
    column: { head: 'BASE URL', none: '(embedded service)' },
  },
  key: {
    field: 'key',
    variable: 'VLOC_KEY',
    help: 'public identifier of the API key',
    inProject: false,
    inProfile: 'required',
    isSecret: false,
    option: textOption('id', 'public identifier of the API key'),
    question: 'API key:',
    column: { head: 'KEY' },
  },
  secret: {
    field: 'secret',
    variable: 'VLOC_SECRET',
    help: 'secret of the API key; removed from the environment at the start, so that child processes do not get it',
    inProject: false,
    inProfile: 'required',
    isSecret: true,
    stdin: 'read the secret from one line of stdin',
    command: 'save a command that prints the secret, and run it each time',
    question: 'API secret (not shown):',
    column: { head: 'SECRET IN' },
  },
  headerPrefix: {
    field: 'header_prefix',
    variable: 'VLOC_HEADER_PREFIX',
    help: "the service's header prefix, default X-Service",
    inProject: true,
    inProfile: 'optional',
    isSecret: false,
    default: DEFAULT_HEADER_PREFIX,
    option: textOption('prefix', "the service's header prefix (default: X-Service)"),
  },
  webhookSecret: {
    field: 'webhook_secret',
    variable: 'VLOC_WEBHOOK_SECRET',
    help: 'secret that webhooks are signed with; removed from the environment like VLOC_SECRET',
    inProject: false,
    inProfile: 'optional',
    isSecret: true,
    stdin: 'read the webhook secret from one line of stdin, after that of --secret-stdin',
    command: 'save a command that prints the webhook secret, and run it each time',
  },
  // Never in a project file: that of a stranger could void --max-credits.
  price: {
    field: 'price',
    variable: 'VLOC_PRICE',
    help: 'credits for one unit of each kind, for --max-credits with a service whose jobs do not report what they cost: `auto_localization=2,dubbing=1`',
    inProject: false,
    inProfile: 'optional',
    isSecret: false,
    option: textOption(
      'kind=credits',
      'price of a unit, if the service does not report it; several separated by commas',
    ),
  },
  // Never in a project file: it names programs to run, which must not arrive with a checkout.
  engines: {
    field: 'engines',
    variable: 'VLOC_ENGINES',
    help: 'file of the engines of the embedded service, default `engines.json` in the folder of the profiles',
    flag: textOption('file', 'engines of the embedded service (default: engines.json)'),
    inProject: false,
    inProfile: 'never',
    isSecret: false,
    default: null,
  },
} as const satisfies Readonly<Record<string, SettingRow>>;

export type SettingRows = typeof SETTINGS;
export type SettingName = keyof SettingRows;
type NamesWith<Part> = {
  [Name in SettingName]: SettingRows[Name] extends Part ? Name : never;
}[SettingName];

export type SecretName = NamesWith<{ isSecret: true }>;
type TextName = NamesWith<{ isSecret: false }>;
type FlagName = NamesWith<{ flag: object }>;
export type ProjectName = NamesWith<{ inProject: true }>;
export type RequiredName = NamesWith<{ inProfile: 'required' }>;
export type OptionalName = NamesWith<{ inProfile: 'optional' }>;
export type ProfileName = RequiredName | OptionalName;

/** The row of a setting in its general type, for loops over all settings. */
export function rowOf(name: SettingName): SettingRow {
  return SETTINGS[name];
}

/**
 * Makes an object of entries, without those that are undefined. The compiler cannot see that a loop over the table fills
 * every name: the caller says what comes out.
 */
export function assembleSettings<Whole extends object>(
  entries: readonly (readonly [keyof Whole & string, Whole[keyof Whole] | undefined])[],
): Whole {
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Whole; // see above
}

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[]; // they are the keys of this constant

export const isSecret = (name: SettingName): name is SecretName => SETTINGS[name].isSecret;
const isText = (name: SettingName): name is TextName => !isSecret(name);
const inProfile = (name: SettingName): name is ProfileName => SETTINGS[name].inProfile !== 'never';

// The names by what their rows say.
export const SECRETS = SETTING_NAMES.filter(isSecret);
export const TEXTS = SETTING_NAMES.filter(isText);
export const FLAGS = SETTING_NAMES.filter((name): name is FlagName => 'flag' in SETTINGS[name]);
export const PROJECT_SETTINGS = SETTING_NAMES.filter((name): name is ProjectName => SETTINGS[name].inProject);
/** The settings in a profile, first the texts and then the secrets, as its file and its table have them. */
export const PROFILE_TEXTS = TEXTS.filter((name) => inProfile(name));
export const PROFILE_SECRETS = SECRETS.filter((name) => inProfile(name));
export const PROFILE_SETTINGS: readonly ProfileName[] = [...PROFILE_TEXTS, ...PROFILE_SECRETS];

/** Settings that every command takes as options. */
export type ServiceFlags = { readonly [Name in FlagName]?: string | undefined };

/** Those that the flags of a command set. */
export function serviceFlags(given: ServiceFlags): ServiceFlags {
  return assembleSettings(FLAGS.map((name) => [name, given[name]]));
}

/** The options themselves. */
export const FLAG_OPTIONS = assembleSettings<{ readonly [Name in FlagName]: SettingRows[Name]['flag'] }>(
  FLAGS.map((name) => [name, SETTINGS[name].flag]),
);

/** The option of a setting, as it is typed. */
export function flagOf(name: SettingName): string {
  return `--${SETTINGS[name].field.replaceAll('_', '-')}`;
}

/** Where a secret is stored. In the file itself only without a keychain, or if the user chose so. */
export type SecretSource =
  | { readonly type: 'file'; readonly value: string }
  | { readonly type: 'keychain'; readonly account: string }
  | { readonly type: 'command'; readonly command: string };

/** Value type of a setting. */
export type SettingValue<Name extends SettingName> = Name extends SecretName
  ? SecretSource
  : SettingRows[Name] extends { default: null }
    ? string | null
    : string;

/** Where a value was set. */
export type SettingOrigin =
  | { readonly type: 'flag' | 'env' | 'profile'; readonly name: string }
  | { readonly type: 'project' | 'in-use'; readonly path: string }
  | { readonly type: 'default' };

export interface Setting<Value> {
  readonly value: Value;
  readonly origin: SettingOrigin;
}

/** Every setting with the place it comes from: those with a default, and the others, which are null where nothing sets them. */
export type Settings = {
  readonly [Name in SettingName]:
    | Setting<SettingValue<Name>>
    | (SettingRows[Name] extends { default: unknown } ? never : null);
} & {
  /** Folder of the embedded service; it belongs to the machine, so no file sets it. */
  readonly stateDir: Setting<string>;
};

/** `env VLOC_KEY`, `profile prod`: the place in the words of the documents. */
export function describeOrigin(origin: SettingOrigin): string {
  switch (origin.type) {
    case 'flag':
    case 'env':
    case 'profile':
      return `${origin.type} ${origin.name}`;
    case 'project':
      return `project file ${origin.path}`;
    case 'in-use':
      return `in use (${origin.path})`;
    case 'default':
      return 'default';
  }
}
