/**
 * Flag over environment over project file over profile over default. A profile stands right behind the place that names it:
 * `--profile prod` wins over VLOC_BASE_URL as any flag does, while the profile in use comes last.
 */
import { Failure } from '../errors/failure.ts';
import { DEFAULT_HEADER_PREFIX } from '../protocol/headers.ts';
import { nearestName } from '../protocol/nearest.ts';
import { type Environment, type EnvironmentName, readVariable } from './environment.ts';
import { stateFolder } from './folders.ts';
import { findProfile, LOCAL, NO_PROFILES, type ProfileDocument, type SecretSource } from './profile.ts';
import type { ProjectFile } from './project-file.ts';
import type { Origin, Setting, Settings } from './settings.ts';

/** What the flags of a command say of the service. */
export interface ServiceFlags {
  readonly profile?: string | undefined;
  readonly baseUrl?: string | undefined;
}

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
interface Layer {
  readonly profile?: Setting<string> | undefined;
  readonly baseUrl?: Setting<string | null> | undefined;
  readonly key?: Setting<string> | undefined;
  readonly secret?: Setting<SecretSource> | undefined;
  readonly headerPrefix?: Setting<string> | undefined;
  readonly webhookSecret?: Setting<SecretSource> | undefined;
}

/**
 * Decides every setting. Pure; no secret is fetched.
 * @throws Failure (`configuration`) for a profile that does not exist, and for a place that contradicts itself
 */
export function resolveSettings(sources: Sources): Settings {
  const { layers, profile } = rankLayers(placesOf(sources), sources);
  const first = <Name extends keyof Layer>(name: Name) =>
    layers.map((layer) => layer[name]).find((setting) => setting !== undefined);
  const byDefault: Origin = { type: 'default' };
  const baseUrl = first('baseUrl') ?? { value: null, origin: byDefault };
  return {
    profile: profile ?? (baseUrl.value === null ? { value: LOCAL, origin: byDefault } : null),
    baseUrl,
    key: first('key') ?? null,
    secret: first('secret') ?? null,
    headerPrefix: first('headerPrefix') ?? { value: DEFAULT_HEADER_PREFIX, origin: byDefault },
    webhookSecret: first('webhookSecret') ?? null,
    stateDir: fromEnv(sources.env, 'VLOC_STATE_DIR') ?? {
      value: stateFolder(sources.env, sources.platform),
      origin: byDefault,
    },
  };
}

/** The places that may name a profile, the strongest first. */
function placesOf({ flags, env, project, profiles, profilesPath }: Sources): Layer[] {
  const inProject = (value: string | undefined) =>
    project === null ? undefined : setting(value, { type: 'project', path: project.path });
  return [
    {
      profile: setting(flags.profile, { type: 'flag', name: '--profile' }),
      baseUrl: setting(flags.baseUrl, { type: 'flag', name: '--base-url' }),
    },
    {
      profile: fromEnv(env, 'VLOC_PROFILE'),
      baseUrl: fromEnv(env, 'VLOC_BASE_URL'),
      key: fromEnv(env, 'VLOC_KEY'),
      secret: secretFromEnv(env, 'VLOC_SECRET'),
      headerPrefix: fromEnv(env, 'VLOC_HEADER_PREFIX'),
      webhookSecret: secretFromEnv(env, 'VLOC_WEBHOOK_SECRET'),
    },
    {
      profile: inProject(project?.settings.profile),
      baseUrl: inProject(project?.settings.base_url),
      headerPrefix: inProject(project?.settings.header_prefix),
    },
    { profile: setting(profiles.current, { type: 'in-use', path: profilesPath }) },
  ];
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

function isWhole(places: readonly Layer[]): boolean {
  const names = ['baseUrl', 'key', 'secret'] as const;
  return names.every((name) => places.some((place) => place[name] !== undefined));
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
  return {
    baseUrl: { value: profile.base_url, origin: from },
    key: { value: profile.key, origin: from },
    secret: { value: profile.secret, origin: from },
    headerPrefix: setting(profile.header_prefix, from),
    webhookSecret: setting(profile.webhook_secret, from),
  };
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
