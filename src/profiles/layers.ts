/**
 * Flag over environment over project file over profile over default. A profile stands right behind the place that names it:
 * `--profile prod` wins over VLOC_BASE_URL as any flag does, while the profile in use comes last.
 */
import { Failure } from '../errors/failure.ts';
import { nearestName } from '../protocol/nearest.ts';
import { type Environment, type EnvironmentName, readVariable } from './environment.ts';
import { stateFolder } from './folders.ts';
import { findProfile, LOCAL, NO_PROFILES, type ProfileDocument } from './profile.ts';
import type { ProjectFile } from './project-file.ts';
import {
  assemble,
  FLAGS,
  flagOf,
  type Origin,
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
  type Settings,
  type SettingValue,
  TEXTS,
} from './settings.ts';

/** All places that settings come from, read already. */
export interface Sources {
  readonly flags: ServiceFlags;
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly project: ProjectFile | null;
  readonly profiles: ProfileDocument;
  /** The file of the profiles. */
  readonly profilesPath: string;
}

/** What one place sets. A base URL of null asks for the embedded service. */
type Layer = { readonly [Name in SettingName]?: Setting<SettingValue<Name>> | undefined };

const BY_DEFAULT: Origin = { type: 'default' };

/**
 * Decides every setting. Pure; no secret is fetched.
 * @throws Failure (`configuration`) for a profile that does not exist, and for a place that contradicts itself
 */
export function resolveSettings(sources: Sources): Settings {
  const { layers, profile } = rankLayers(placesOf(sources), sources);
  const found = assemble<Omit<Settings, 'stateDir'>>(
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
function placesOf({ flags, env, project, profiles, profilesPath }: Sources): Layer[] {
  return [
    assemble<Layer>(FLAGS.map((name) => [name, setting(flags[name], { type: 'flag', name: flagOf(name) })])),
    assemble<Layer>([
      ...TEXTS.map((name) => [name, fromEnv(env, SETTINGS[name].variable)] as const),
      ...SECRETS.map((name) => [name, secretFromEnv(env, SETTINGS[name].variable)] as const),
    ]),
    project === null ? {} : layerOfProject(project),
    { profile: setting(profiles.current, { type: 'in-use', path: profilesPath }) },
  ];
}

function layerOfProject({ path, settings }: ProjectFile): Layer {
  const origin: Origin = { type: 'project', path };
  return assemble<Layer>(
    PROJECT_SETTINGS.map((name) => [name, setting(settings[SETTINGS[name].field], origin)]),
  );
}

/**
 * Puts the values of the chosen profile, which is the first one named, behind the place that names it. A service that the
 * places before it describe wholly takes nothing from a profile: its header prefix, say, is another service's.
 */
function rankLayers(
  places: readonly Layer[],
  { profiles, profilesPath }: Sources,
): { layers: readonly Layer[]; profile: Setting<string> | null } {
  const at = places.findIndex((place) => place.profile !== undefined);
  const place = places[at];
  if (place?.profile === undefined || isWhole(places.slice(0, at))) return { layers: places, profile: null };
  const { value: name, origin } = place.profile;
  if (name === LOCAL && place.baseUrl !== undefined) throw contradiction(origin);
  const layer = layerOf(name, origin, profiles, profilesPath);
  return { layers: places.toSpliced(at + 1, 0, layer), profile: place.profile };
}

/** Whether the places set all that a profile cannot do without. */
function isWhole(places: readonly Layer[]): boolean {
  const names = PROFILE_SETTINGS.filter((name) => SETTINGS[name].inProfile === 'required');
  return names.every((name) => strongest(places, name) !== undefined);
}

/** Whether the run has to know the profiles: not when flags and environment say all, as on a build server. */
export function needsProfiles(flags: ServiceFlags, env: Environment): boolean {
  const given = placesOf({ ...NOTHING_READ, flags, env }).slice(0, 2);
  return given.some((place) => place.profile !== undefined) || !isWhole(given);
}

const NOTHING_READ = { platform: 'linux', project: null, profiles: NO_PROFILES, profilesPath: '' } as const;

function layerOf(name: string, origin: Origin, profiles: ProfileDocument, path: string): Layer {
  const from: Origin = { type: 'profile', name };
  if (name === LOCAL) return { baseUrl: { value: null, origin: from } };
  const profile = findProfile(profiles, name);
  if (profile === undefined) throw unknownProfile(name, profiles, path, origin);
  return assemble<Layer>([
    ...PROFILE_TEXTS.map((name) => [name, setting(profile[SETTINGS[name].field], from)] as const),
    ...PROFILE_SECRETS.map((name) => [name, setting(profile[SETTINGS[name].field], from)] as const),
  ]);
}

function setting<Value>(value: Value | undefined, origin: Origin): Setting<Value> | undefined {
  return value === undefined ? undefined : { value, origin };
}

function fromEnv(env: Environment, name: EnvironmentName): Setting<string> | undefined {
  return setting(readVariable(env, name), { type: 'env', name });
}

function secretFromEnv(env: Environment, name: EnvironmentName): Setting<SecretSource> | undefined {
  const value = readVariable(env, name);
  return value === undefined ? undefined : { value: { type: 'file', value }, origin: { type: 'env', name } };
}

function contradiction(origin: Origin): Failure {
  return new Failure({
    category: origin.type === 'flag' ? 'usage' : 'configuration',
    code: 'SERVICE_AMBIGUOUS',
    message: `the profile ${LOCAL} is the embedded service, but a base URL is set too`,
    advice: 'Leave one of the two out.',
  });
}

/** The Failure for a name that no profile has, with the one that may be meant. */
export function unknownProfile(
  name: string,
  { profiles }: ProfileDocument,
  path: string,
  origin?: Origin,
): Failure {
  const names = [LOCAL, ...profiles.map((profile) => profile.name)];
  const meant = nearestName(name, names);
  const where = origin?.type === 'project' ? `, which ${origin.path} asks for` : '';
  return new Failure({
    category: 'configuration',
    code: 'PROFILE_UNKNOWN',
    message: `there is no profile "${name}" in ${path}${where}`,
    advice:
      meant === null
        ? `There are: ${names.join(', ')}. \`vloc profile add ${name}\` makes it.`
        : `Did you mean ${meant}?`,
  });
}
