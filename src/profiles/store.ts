/** The file of the profiles: read whole, changed under a lock, replaced in one step. */
import { join } from 'node:path';
import { Failure } from '../client/failure.ts';
import { inProfilesFolder } from './folder-failure.ts';
import { withLock } from './lock.ts';
import { ensurePrivateFolder, PRIVATE_FILE, readPrivateFile, refuseLink, type Warn } from './private-file.ts';
import { PROFILES_NAME as NAME, NO_PROFILES, type ProfileDocument, profilesPath } from './profile.ts';

export interface ProfileStore {
  readonly path: string;
  /** @throws Failure (`configuration`) for a damaged file, which stays as it is */
  read(): Promise<ProfileDocument>;
  /**
   * Reads, changes and writes, with no other process in between.
   * @throws Failure; whatever `edit` throws, and then nothing is written
   */
  change(edit: (document: ProfileDocument) => ProfileDocument): Promise<void>;
}

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
  const [{ default: Conf }] = await Promise.all([import('conf'), import('./profile-schema.ts')]);
  await withLock(join(folder, `${NAME}.lock`), async () => {
    const path = profilesPath(folder);
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

async function readDocument(path: string, warn: Warn): Promise<ProfileDocument> {
  const text = await readPrivateFile(path, warn);
  if (text === null) return NO_PROFILES;
  const value = parseJson(text);
  if (value === undefined) throw damaged(path, 'it is not JSON');
  // Who has no profiles does not load the validators.
  const { parseDocument } = await import('./profile-schema.ts');
  const document = parseDocument(value);
  if ('wrongAt' in document) throw damaged(path, `wrong at ${document.wrongAt}`);
  return document;
}

/** Undefined for what is no JSON: the parser's own message would quote the text, which holds secrets. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function damaged(path: string, why: string): Failure {
  return new Failure({
    category: 'configuration',
    code: 'PROFILES_DAMAGED',
    message: `the profiles in ${path} are damaged (${why})`,
    advice:
      'Nothing was changed. Mend the file, or move it away and add the profiles again with `vloc profile add`.',
  });
}
