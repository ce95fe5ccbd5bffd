/** The file of the profiles: read whole, changed under a lock, replaced in one step. */
import { configurationFailure, type Failure, temporaryFailure } from '../base/failure.ts';
import { parseJson } from '../base/json.ts';
import {
  ensurePrivateFolder,
  inProfilesFolder,
  PRIVATE_FILE,
  readPrivateFile,
  refuseLink,
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
    read: () => readDocument(path, warn),
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
  const [{ default: Conf }] = await Promise.all([import('conf'), import('./schemas.ts')]);
  const path = profilesPath(folder);
  await withLock(`${path}.lock`, async () => {
    await refuseLink(path);
    const changed = edit(await readDocument(path, warn));
    const file = new Conf<Record<string, unknown>>({
      cwd: folder,
      configName: NAME,
      configFileMode: PRIVATE_FILE,
      accessPropertiesByDotNotation: false,
    });
    file.store = { ...changed };
  });
}

/** @throws Failure (`temporary`) when the lock is not free in two minutes */
async function withLock(path: string, work: () => Promise<void>): Promise<void> {
  // Loaded here: reading profiles, as the completion does, needs no lock.
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

async function readDocument(path: string, warn: Warn): Promise<ProfileDocument> {
  const text = await readPrivateFile(path, warn);
  if (text === null) return NO_PROFILES;
  const value = parseWithoutQuote(text);
  if (value === undefined) throw damagedProfilesFailure(path, 'it is not JSON');
  // Without profiles, the validators are not loaded.
  const { parseDocument } = await import('./schemas.ts');
  const document = parseDocument(value);
  if ('unknown' in document) throw newerProfilesFailure(path, document.unknown);
  if ('wrongAt' in document) throw damagedProfilesFailure(path, `wrong at ${document.wrongAt}`);
  return document;
}

/** Undefined for text that is not JSON: the parser's own message would quote the text, which holds secrets. */
function parseWithoutQuote(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
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
