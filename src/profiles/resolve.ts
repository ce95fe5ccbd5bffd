/** Which service a run talks to, and with whose key. */
import { Failure } from '../errors/failure.ts';
import type { Environment } from './environment.ts';
import { configFolder, homeFolder } from './folders.ts';
import { needsProfiles, resolveSettings, type Sources } from './layers.ts';
import type { Warn } from './private-file.ts';
import { NO_PROFILES, type ProfileDocument, profilesPath } from './profile.ts';
import { readProjectFile } from './project-file.ts';
import type { SecretSource, ServiceFlags, Settings } from './settings.ts';

export type { Environment } from './environment.ts';
export { stateFolder } from './folders.ts';

/** The service that a run uses: one elsewhere, or the one inside this program. */
export type Target =
  | {
      readonly type: 'remote';
      readonly baseUrl: string;
      readonly key: string;
      readonly secret: string;
      readonly headerPrefix: string;
    }
  | { readonly type: 'embedded'; readonly stateDir: string };

interface Surroundings {
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
export async function readSources({ flags, env, platform, cwd, warn }: Surroundings): Promise<Sources> {
  const folder = configFolder(env, platform);
  const project = await readProjectFile(cwd, homeFolder(env), warn);
  const profiles = needsProfiles(flags, env) ? await readProfiles(folder, warn) : NO_PROFILES;
  return { flags, env, platform, project, profiles, profilesPath: profilesPath(folder) };
}

/** What writes and locks the file is loaded by those who have a use for it: on a build server nobody has. */
async function readProfiles(folder: string, warn: Warn): Promise<ProfileDocument> {
  const { openProfileStore } = await import('./store.ts');
  return openProfileStore(folder, warn).read();
}

/**
 * Decides for a service; its secret is fetched last, and only for a service elsewhere.
 * @throws Failure (`configuration`) when the credentials are missing, or belong to another service
 */
export async function resolveTarget(
  sources: Sources,
  fetchSecret: (source: SecretSource) => Promise<string>,
): Promise<Target> {
  const settings = resolveSettings(sources);
  const { baseUrl, key, secret, headerPrefix, stateDir } = settings;
  const doubt = findDoubt(settings, sources.env);
  if (doubt !== null) throw doubt;
  if (baseUrl.value === null) return { type: 'embedded', stateDir: stateDir.value };
  if (key === null || secret === null) throw missing(settings);
  if (key.origin.type === 'env' && secret.origin.type !== 'env') throw halfSet();
  refuseRedirection(settings, sources);
  return {
    type: 'remote',
    baseUrl: baseUrl.value.replace(/\/+$/, ''),
    key: key.value,
    secret: await fetchSecret(secret.value),
    headerPrefix: headerPrefix.value,
  };
}

const CHOICES =
  'Set VLOC_BASE_URL, VLOC_KEY and VLOC_SECRET, or name a profile with VLOC_PROFILE or --profile; `local` is the embedded service.';

/**
 * The Failure for settings that leave it open which service is meant: a guess could do paid work in the wrong place, or
 * free work where a paid result is expected. Null where a service is chosen.
 */
export function findDoubt({ profile, baseUrl, key, secret }: Settings, env: Environment): Failure | null {
  const byFlag = baseUrl.origin.type === 'flag' || profile?.origin.type === 'flag';
  const isLocal = baseUrl.value === null && baseUrl.origin.type === 'profile';
  // An empty variable is mostly one that a pipeline forgot to fill: the next best service is not the one meant.
  if (env.VLOC_BASE_URL === '' && !byFlag && !(isLocal && profile?.origin.type === 'env')) {
    return undecided('BASE_URL_EMPTY', 'VLOC_BASE_URL is set to nothing', `Fill or unset it. ${CHOICES}`);
  }
  if (baseUrl.value !== null || baseUrl.origin.type !== 'default') return null;
  const set = [key, secret].flatMap((found) => (found?.origin.type === 'env' ? [found.origin.name] : []));
  if (set.length > 0) {
    const names = `${set.join(' and ')} ${set.length === 1 ? 'is' : 'are'} set`;
    return undecided('SERVICE_MISSING', `${names}, but no address of a service`, CHOICES);
  }
  if (!isSwitchedOn(env.CI)) return null;
  return undecided('SERVICE_NOT_CHOSEN', 'CI is set, and no service is configured', CHOICES);
}

function undecided(code: string, message: string, advice: string): Failure {
  return new Failure({ category: 'configuration', code, message, advice });
}

function isSwitchedOn(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false'].includes(value.toLowerCase());
}

function missing({ key, secret, profile }: Settings): Failure {
  const lacking = [key === null ? 'VLOC_KEY' : null, secret === null ? 'VLOC_SECRET' : null];
  const names = lacking.filter((name) => name !== null);
  const other = profile === null ? 'name a profile' : 'name another profile';
  return new Failure({
    category: 'configuration',
    code: 'CREDENTIALS_MISSING',
    message: `there is an address of a service, but ${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} not set`,
    advice: `Set ${names.join(' and ')}, or ${other}: \`vloc profile add NAME\` makes one. \`vloc profile show\` says where each value comes from.`,
  });
}

/** A key of the environment with the secret of a profile is a pair that cannot work. */
function halfSet(): Failure {
  return new Failure({
    category: 'configuration',
    code: 'CREDENTIALS_MIXED',
    message: 'VLOC_KEY is set, but VLOC_SECRET is not',
    advice: 'Set both, or unset VLOC_KEY to use the key of the profile.',
  });
}

/** A project file comes with a repository: it must not lead the signed requests of a profile to somewhere else. */
function refuseRedirection({ baseUrl, secret }: Settings, { profiles }: Sources): void {
  if (baseUrl.origin.type !== 'project' || secret?.origin.type !== 'profile') return;
  const { name } = secret.origin;
  const own = profiles.profiles.find((profile) => profile.name === name)?.base_url;
  if (own !== undefined && originOf(own) === originOf(baseUrl.value ?? '')) return;
  throw new Failure({
    category: 'configuration',
    code: 'CREDENTIALS_FOR_ANOTHER_SERVICE',
    message: `${baseUrl.origin.path} leads to ${originOf(baseUrl.value ?? '')}, and the key of the profile ${name} is for another service`,
    advice: 'If you trust that address, give it yourself with --base-url; else name a profile for it.',
  });
}

function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : address;
}
