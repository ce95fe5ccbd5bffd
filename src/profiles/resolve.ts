/** Resolves the service of a run and the key to use with it. */

import { configurationFailure, Failure, usageFailure } from '../base/failure.ts';
import { homeFolder } from '../base/home-folder.ts';
import { nearestName } from '../protocol/nearest.ts';
import { describeInvalidPrices, type Prices, parsePrices } from '../protocol/prices.ts';
import {
  configFolder,
  type Environment,
  type EnvironmentName,
  readVariable,
  stateFolder,
} from './environment.ts';
import type { Warn } from './private-file.ts';
import { findProfile, LOCAL, NO_PROFILES, type ProfileDocument, profilesPath } from './profile.ts';
import { type ProjectFile, readProjectFile } from './project-file.ts';
import {
  assembleSettings,
  describeOrigin,
  FLAGS,
  flagOf,
  PROFILE_SECRETS,
  PROFILE_SETTINGS,
  PROFILE_TEXTS,
  PROJECT_SETTINGS,
  rowOf,
  SECRETS,
  SETTING_NAMES,
  SETTINGS,
  type SecretSource,
  type ServiceFlags,
  type Setting,
  type SettingName,
  type SettingOrigin,
  type Settings,
  type SettingValue,
  TEXTS,
} from './settings.ts';

/** The service that a run uses: a remote one, or the embedded one. */
export type ServiceTarget =
  | {
      readonly type: 'remote';
      readonly baseUrl: string;
      readonly key: string;
      readonly secret: string;
      readonly headerPrefix: string;
      /** As the user states them. */
      readonly prices: Prices;
    }
  | { readonly type: 'embedded'; readonly stateDir: string };

interface ResolveOptions {
  readonly flags: ServiceFlags;
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly cwd: string;
  readonly warn: Warn;
}

/**
 * Reads the project file and the profiles.
 * @throws Failure (`configuration`) for one that cannot be used
 */
export async function readSources({
  flags,
  env,
  platform,
  cwd,
  warn,
}: ResolveOptions): Promise<SettingSources> {
  const folder = configFolder(env, platform);
  const project = await readProjectFile(cwd, homeFolder(env), warn);
  const profiles = needsProfiles(flags, env) ? await readProfiles(folder, warn) : NO_PROFILES;
  return { flags, env, platform, project, profiles, profilesPath: profilesPath(folder) };
}

/** Loaded only when needed; build servers do not. */
async function readProfiles(folder: string, warn: Warn): Promise<ProfileDocument> {
  const { openProfileStore } = await import('./store.ts');
  return openProfileStore(folder, warn).read();
}

/**
 * Decides for a service; its secret is fetched last, and only for a remote service.
 * @throws Failure (`configuration`) when the credentials are missing, or belong to another service
 */
export async function resolveTarget(
  sources: SettingSources,
  fetchSecret: (source: SecretSource) => Promise<string>,
): Promise<ServiceTarget> {
  const settings = resolveSettings(sources);
  const { baseUrl, key, secret, headerPrefix, price, stateDir } = settings;
  const doubt = ambiguityFailure(settings, sources.env);
  if (doubt !== null) throw doubt;
  if (baseUrl.value === null) return { type: 'embedded', stateDir: stateDir.value };
  if (settings.engines.origin.type === 'flag') throw enginesElsewhereFailure(baseUrl);
  if (key === null || secret === null) throw missingCredentialsFailure(settings);
  if (key.origin.type === 'env' && secret.origin.type !== 'env') throw mixedCredentialsFailure();
  refuseOtherAddress(settings, sources);
  const prices = readPrices(price);
  return {
    type: 'remote',
    baseUrl: baseUrl.value.replace(/\/+$/, ''),
    key: key.value,
    secret: await fetchSecret(secret.value),
    headerPrefix: headerPrefix.value,
    prices,
  };
}

function readPrices(price: Settings['price']): Prices {
  if (price === null) return {};
  const prices = parsePrices(price.value);
  if (prices !== null) return prices;
  throw configurationFailure(
    'SETTING_INVALID',
    describeInvalidPrices(`price (${describeOrigin(price.origin)})`, price.value),
    'Nothing was sent; correct it.',
  );
}

const CHOICES =
  'Set VLOC_BASE_URL, VLOC_KEY and VLOC_SECRET, or name a profile with VLOC_PROFILE or --profile; `local` is the embedded service.';

/**
 * The Failure for settings that leave it open which service is meant: a guess could do paid work in the wrong place, or
 * free work where a paid result is expected. Null where a service is chosen.
 */
export function ambiguityFailure(
  { profile, baseUrl, key, secret }: Settings,
  env: Environment,
): Failure | null {
  const byFlag = baseUrl.origin.type === 'flag' || profile?.origin.type === 'flag';
  const isLocal = baseUrl.value === null && baseUrl.origin.type === 'profile';
  // An empty variable is mostly one that a pipeline forgot to fill: another service would be the wrong one.
  if (env.VLOC_BASE_URL === '' && !byFlag && !(isLocal && profile?.origin.type === 'env')) {
    return undecidedServiceFailure('BASE_URL_EMPTY', 'VLOC_BASE_URL is empty', `Set or unset it. ${CHOICES}`);
  }
  if (baseUrl.value !== null || baseUrl.origin.type !== 'default') return null;
  const set = [key, secret].flatMap((found) => (found?.origin.type === 'env' ? [found.origin.name] : []));
  if (set.length > 0) {
    const names = `${set.join(' and ')} ${set.length === 1 ? 'is' : 'are'} set`;
    return undecidedServiceFailure('SERVICE_MISSING', `${names}, but not the address of a service`, CHOICES);
  }
  if (!isSwitchedOn(env.CI)) return null;
  return undecidedServiceFailure('SERVICE_NOT_CHOSEN', 'CI is set, and no service is configured', CHOICES);
}

function undecidedServiceFailure(code: string, message: string, advice: string): Failure {
  return configurationFailure(code, message, advice);
}

/** Whether a variable such as CI is set: to any value but 0 and false. */
export function isSwitchedOn(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false'].includes(value.toLowerCase());
}

function missingCredentialsFailure({ key, secret, profile }: Settings): Failure {
  const lacking = [key === null ? 'VLOC_KEY' : null, secret === null ? 'VLOC_SECRET' : null];
  const names = lacking.filter((name) => name !== null);
  const other = profile === null ? 'name a profile' : 'name another profile';
  return configurationFailure(
    'CREDENTIALS_MISSING',
    `the address of a service is set, but ${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} not set`,
    `Set ${names.join(' and ')}, or ${other}: \`vloc profile add NAME\` creates one. \`vloc profile show\` says where each value comes from.`,
  );
}

function enginesElsewhereFailure(baseUrl: Settings['baseUrl']): Failure {
  return usageFailure(
    'ENGINES_ELSEWHERE',
    `--engines is for the embedded service, but this run uses ${baseUrl.value} (${describeOrigin(baseUrl.origin)})`,
    'Leave it out, or use the embedded service with --profile local.',
  );
}

/** A key of the environment with the secret of a profile is a pair that cannot work. */
function mixedCredentialsFailure(): Failure {
  return configurationFailure(
    'CREDENTIALS_MIXED',
    'VLOC_KEY is set, but VLOC_SECRET is not',
    'Set both, or unset VLOC_KEY to use the key of the profile.',
  );
}

/**
 * A key goes only to the address that it was saved for, wherever another one comes from: a signature names no host, so its
 * receiver could use it at the right service. A key of the environment has no such address.
 */
function refuseOtherAddress({ baseUrl, key, secret }: Settings, { profiles }: SettingSources): void {
  const owner = [key?.origin, secret?.origin].find((origin) => origin?.type === 'profile');
  const given = baseUrl.value === null ? null : normalizeAddress(baseUrl.value);
  // The client refuses what is not an address.
  if (owner?.type !== 'profile' || given === null) return;
  const saved = normalizeAddress(findProfile(profiles, owner.name)?.base_url ?? '');
  if (saved === given) return;
  throw configurationFailure(
    'CREDENTIALS_FOR_ANOTHER_SERVICE',
    `the key of the profile ${owner.name} is for ${saved}, not for ${given} (${describeOrigin(baseUrl.origin)})`,
    `Nothing was sent. Set VLOC_KEY and VLOC_SECRET for that address, or add a profile for it: \`vloc profile add NAME --base-url ${given}\`.`,
  );
}

/**
 * Describes a project file that chooses the host to which the credentials of the environment are used: it may have come with
 * a clone. Null without one.
 */
export function describeProjectHost(
  { baseUrl, profile, key, secret }: Settings,
  { project }: Pick<SettingSources, 'project'>,
): string | null {
  const chooser = baseUrl.origin.type === 'profile' ? profile?.origin : baseUrl.origin;
  if (chooser?.type !== 'project' || key?.origin.type !== 'env' || secret?.origin.type !== 'env') return null;
  const host = URL.parse(baseUrl.value ?? '')?.host ?? baseUrl.value;
  return `${project?.path} chooses ${host}, which gets requests signed with VLOC_KEY and VLOC_SECRET. Set VLOC_BASE_URL to choose it yourself.`;
}

/** Origin and path, without what a message must not show; null for text that is not an address. */
function normalizeAddress(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { origin, pathname } = new URL(text);
  return origin + pathname.replace(/\/+$/, '');
}

/** All places that settings come from, read already. */
export interface SettingSources {
  readonly flags: ServiceFlags;
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly project: ProjectFile | null;
  readonly profiles: ProfileDocument;
  /** The file of the profiles. */
  readonly profilesPath: string;
}

/** Settings from one place. A base URL of null selects the embedded service. */
type Layer = { readonly [Name in SettingName]?: Setting<SettingValue<Name>> | undefined };

const BY_DEFAULT: SettingOrigin = { type: 'default' };

/**
 * Decides every setting: flag over environment over project file over profile over default. A profile ranks directly below
 * the place that names it: `--profile prod` overrides VLOC_BASE_URL as any flag does, while the current profile comes last.
 * Pure; no secret is fetched.
 * @throws Failure (`configuration`) for a profile that does not exist, and for a place that contradicts itself
 */
export function resolveSettings(sources: SettingSources): Settings {
  const { layers, profile } = rankLayers(placesOf(sources), sources);
  const found = assembleSettings<Omit<Settings, 'stateDir'>>(
    SETTING_NAMES.map((name) => [name, strongest(layers, name) ?? defaultOf(name)]),
  );
  return {
    ...found,
    profile: profile ?? (found.baseUrl.value === null ? { value: LOCAL, origin: BY_DEFAULT } : null),
    stateDir: fromEnv(sources.env, 'VLOC_STATE_DIR') ?? {
      value: stateFolder(sources.env, sources.platform),
      origin: BY_DEFAULT,
    },
  };
}

function strongest(layers: readonly Layer[], name: SettingName): Layer[SettingName] {
  return layers.map((layer) => layer[name]).find((setting) => setting !== undefined);
}

function defaultOf(name: SettingName): Setting<string | null> | null {
  const value = rowOf(name).default;
  return value === undefined ? null : { value, origin: BY_DEFAULT };
}

/** The places that may name a profile, the strongest first. */
function placesOf({ flags, env, project, profiles, profilesPath }: SettingSources): Layer[] {
  return [
    assembleSettings<Layer>(
      FLAGS.map((name) => [name, setting(flags[name], { type: 'flag', name: flagOf(name) })]),
    ),
    assembleSettings<Layer>([
      ...TEXTS.map((name) => [name, fromEnv(env, SETTINGS[name].variable)] as const),
      ...SECRETS.map((name) => [name, secretFromEnv(env, SETTINGS[name].variable)] as const),
    ]),
    project === null ? {} : layerOfProject(project),
    { profile: setting(profiles.current, { type: 'in-use', path: profilesPath }) },
  ];
}

function layerOfProject({ path, settings }: ProjectFile): Layer {
  const origin: SettingOrigin = { type: 'project', path };
  return assembleSettings<Layer>(
    PROJECT_SETTINGS.map((name) => [name, setting(settings[SETTINGS[name].field], origin)]),
  );
}

/**
 * Puts the values of the chosen profile, which is the first one named, after the place that names it. A service that the
 * places before it describe wholly takes nothing from a profile: its header prefix, say, is another service's.
 */
function rankLayers(
  places: readonly Layer[],
  { profiles, profilesPath }: SettingSources,
): { layers: readonly Layer[]; profile: Setting<string> | null } {
  const at = places.findIndex((place) => place.profile !== undefined);
  const place = places[at];
  if (place?.profile === undefined || isWhole(places.slice(0, at))) return { layers: places, profile: null };
  const { value: name, origin } = place.profile;
  if (name === LOCAL && place.baseUrl !== undefined) throw ambiguousServiceFailure(origin);
  const layer = layerOf(name, origin, profiles, profilesPath);
  return { layers: places.toSpliced(at + 1, 0, layer), profile: place.profile };
}

/** Whether the places set all that a profile cannot do without. */
function isWhole(places: readonly Layer[]): boolean {
  const names = PROFILE_SETTINGS.filter((name) => SETTINGS[name].inProfile === 'required');
  return names.every((name) => strongest(places, name) !== undefined);
}

/** Whether the run has to know the profiles: not when flags and environment say all, as on a build server. */
function needsProfiles(flags: ServiceFlags, env: Environment): boolean {
  const given = placesOf({ ...NOTHING_READ, flags, env }).slice(0, 2);
  return given.some((place) => place.profile !== undefined) || !isWhole(given);
}

const NOTHING_READ = { platform: 'linux', project: null, profiles: NO_PROFILES, profilesPath: '' } as const;

function layerOf(name: string, origin: SettingOrigin, profiles: ProfileDocument, path: string): Layer {
  const from: SettingOrigin = { type: 'profile', name };
  if (name === LOCAL) return { baseUrl: { value: null, origin: from } };
  const profile = findProfile(profiles, name);
  if (profile === undefined) throw unknownProfileFailure(name, profiles, path, origin);
  return assembleSettings<Layer>([
    ...PROFILE_TEXTS.map((name) => [name, setting(profile[SETTINGS[name].field], from)] as const),
    ...PROFILE_SECRETS.map((name) => [name, setting(profile[SETTINGS[name].field], from)] as const),
  ]);
}

function setting<Value>(value: Value | undefined, origin: SettingOrigin): Setting<Value> | undefined {
  return value === undefined ? undefined : { value, origin };
}

function fromEnv(env: Environment, name: EnvironmentName): Setting<string> | undefined {
  return setting(readVariable(env, name), { type: 'env', name });
}

function secretFromEnv(env: Environment, name: EnvironmentName): Setting<SecretSource> | undefined {
  const value = readVariable(env, name);
  return value === undefined ? undefined : { value: { type: 'file', value }, origin: { type: 'env', name } };
}

function ambiguousServiceFailure(origin: SettingOrigin): Failure {
  return new Failure({
    category: origin.type === 'flag' ? 'usage' : 'configuration',
    code: 'SERVICE_AMBIGUOUS',
    message: `the profile ${LOCAL} is the embedded service, but a base URL is set too`,
    advice: 'Leave one of the two out.',
  });
}

/** The Failure for a name that no profile has, with the one that may be meant. */
export function unknownProfileFailure(
  name: string,
  { profiles }: ProfileDocument,
  path: string,
  origin?: SettingOrigin,
): Failure {
  const names = [LOCAL, ...profiles.map((profile) => profile.name)];
  const meant = nearestName(name, names);
  const where = origin?.type === 'project' ? `, which ${origin.path} requests` : '';
  return configurationFailure(
    'PROFILE_UNKNOWN',
    `there is no profile "${name}" in ${path}${where}`,
    meant === null
      ? `Existing profiles: ${names.join(', ')}. Create it with \`vloc profile add ${name}\`.`
      : `Did you mean ${meant}?`,
  );
}
