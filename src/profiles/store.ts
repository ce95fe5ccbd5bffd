/** The file of the profiles: read whole and checked, changed under a lock, replaced in one step. */
import type Conf from 'conf';
import { configurationFailure, type Failure, temporaryFailure } from '../base/failure.ts';
import { parseJson } from '../base/json.ts';
import {
  ensurePrivateFolder,
  findPrivateFile,
  inProfilesFolder,
  PRIVATE_FILE,
  refuseLink,
  unreadableProfilesFailure,
  type Warn,
} from './private-file.ts';
import { PROFILES_NAME as NAME, NO_PROFILES, type ProfileDocument, profilesPath } from './profile.ts';

export interface ProfileStore {
  readonly path: string;
  /** @throws Failure (`configuration`) for a file that is damaged or of a newer version, which stays as it is */
  read(): Promise<ProfileDocument>;
  /**
   * Reads, changes and writes, with no other process in between.
   * @throws Failure; whatever `edit` throws, and then nothing is written
   */
  change(edit: (document: ProfileDocument) => ProfileDocument): Promise<void>;
}

/** With a hundred processes starting together, the last one gets the lock after a minute on two busy cores. */
const LONGEST_WAIT_MS = 120_000;

/** The store in that folder, which is made at the first change. */
export function openProfileStore(folder: string, warn: Warn): ProfileStore {
  const path = profilesPath(folder);
  return {
    path,
    read: () => readDocument(folder, warn),
    change: (edit) => inProfilesFolder(folder, () => changeFile(folder, edit, warn)),
  };
}

async function changeFile(
  folder: string,
  edit: (document: ProfileDocument) => ProfileDocument,
  warn: Warn,
): Promise<void> {
  await ensurePrivateFolder(folder, warn);
  // Before the lock is taken: loading takes longer than writing.
  await import('conf');
  const path = profilesPath(folder);
  await withLock(`${path}.lock`, async () => {
    await refuseLink(path);
    const changed = edit(await readDocument(folder, warn));
    // It makes a file that is missing.
    const file = await openFile(folder, { defaults: NO_PROFILES });
    file.store = changed;
  });
}

/** @throws Failure (`temporary`) when the lock is not free in two minutes */
async function withLock(path: string, work: () => Promise<void>): Promise<void> {
  // Loaded here: reading profiles needs no lock.
  const { withMutex } = await import('../batch/records/hold.ts');
  const limit = AbortSignal.timeout(LONGEST_WAIT_MS);
  try {
    await withMutex(path, work, limit);
  } catch (error) {
    if (!limit.aborted || error !== limit.reason) throw error;
    throw temporaryFailure(
      'PROFILES_LOCKED',
      `another vloc has held ${path} for ${LONGEST_WAIT_MS / 1000} s`,
      'Wait for it to end, then run the same command again.',
      { retryable: true },
    );
  }
}

async function readDocument(folder: string, warn: Warn): Promise<ProfileDocument> {
  // Without profiles, nothing is loaded.
  if (!(await findPrivateFile(profilesPath(folder), warn))) return NO_PROFILES;
  return (await openFile(folder)).store;
}

/** @throws Failure (`configuration`) for a file that does not fit the schema */
async function openFile(
  folder: string,
  options: { readonly defaults?: ProfileDocument } = {},
): Promise<Conf<ProfileDocument>> {
  const [{ default: Conf }, { PROFILES_SCHEMA }] = await Promise.all([
    import('conf'),
    import('./profile-schema.ts'),
  ]);
  const { properties: schema, ...rootSchema } = PROFILES_SCHEMA;
  let found: unknown;
  try {
    return new Conf<ProfileDocument>({
      ...options,
      cwd: folder,
      configName: NAME,
      configFileMode: PRIVATE_FILE,
      accessPropertiesByDotNotation: false,
      schema,
      rootSchema,
      // The schema is ours, and checking it takes longer than all the rest.
      ajvOptions: { discriminator: true, allErrors: false, validateSchema: false },
      deserialize(text) {
        found = parseJson(text);
        return found as ProfileDocument; // conf checks it by the schema
      },
    });
  } catch (error) {
    throw explain(error, found, profilesPath(folder));
  }
}

/** @param found what the file has, if it is JSON */
function explain(error: unknown, found: unknown, path: string): unknown {
  if (!(error instanceof Error)) return error;
  if ('syscall' in error) return unreadableProfilesFailure(path, error.message);
  // The parser's own message would quote the text, which holds secrets.
  if (error instanceof SyntaxError) return damagedProfilesFailure(path, 'it is not JSON');
  const version = typeof found === 'object' && found !== null && 'version' in found ? found.version : null;
  if (typeof version === 'number' && version > 1) return newerProfilesFailure(path, `version ${version}`);
  // Such as "Config schema violation: `profiles/0` must have required property 'key'": conf says it in no other way.
  const [, place = '', rule] = /^Config schema violation: `(.*?)` (.*)/.exec(error.message) ?? [];
  if (rule === undefined) return error;
  const missing = /required property '(.*)'/.exec(rule)?.[1] ?? '';
  const where = [...place.split('/'), missing].filter((part) => part !== '').join('.');
  if (rule.includes('additional properties')) return newerProfilesFailure(path, `the field ${where}`);
  return damagedProfilesFailure(path, `wrong at ${typeof found === 'object' ? where : 'the whole of it'}`);
}

function damagedProfilesFailure(path: string, why: string): Failure {
  return configurationFailure(
    'PROFILES_DAMAGED',
    `the profiles in ${path} are damaged (${why})`,
    'Nothing was changed. Fix the file, or move it away and add the profiles again with `vloc profile add`.',
  );
}

function newerProfilesFailure(path: string, unknown: string): Failure {
  return configurationFailure(
    'PROFILES_NEWER',
    `the profiles in ${path} were written by a newer version of vloc: this one does not know ${unknown}`,
    'Nothing was changed. Upgrade vloc, or choose another folder with VLOC_CONFIG_DIR.',
  );
}
