/** `vloc.config.json`: what the runs in one project have in common. It is shared and committed, so it holds no secret. */
import { lstatSync, readFileSync, type Stats } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { configurationFailure, type Failure } from '../base/failure.ts';
import { parseJson } from '../base/json.ts';
import type { Warn } from './private-file.ts';
import type { ProjectSettings } from './schemas.ts';

const PROJECT_FILE = 'vloc.config.json';

export interface ProjectFile {
  readonly path: string;
  readonly settings: ProjectSettings;
}

/**
 * Reads the nearest project file, from the folder upwards to the root of its repository, the home folder or the root of
 * the file system.
 * @returns null when there is none
 * @throws Failure (`configuration`) for a file that cannot be used
 */
export async function readProjectFile(cwd: string, home: string, warn: Warn): Promise<ProjectFile | null> {
  const path = findProjectFile(cwd, home);
  if (path === null) return null;
  // In a folder that all users may write to, such as /tmp, any of them could choose the service of a run.
  if (!isTrusted(path)) {
    warn(`${path} belongs to another user and is ignored; change its owner to use it.`);
    return null;
  }
  const { parseProject } = await import('./schemas.ts');
  const parsed = parseProject(readJson(path));
  if ('errors' in parsed) {
    throw projectFileFailure(
      path,
      'cannot be used',
      'Fix the file; `vloc profile show` shows what it sets.',
      parsed.errors,
    );
  }
  return { path, settings: parsed };
}

/** Synchronous, which is faster: every run checks a few names, and mostly finds none. */
function findProjectFile(cwd: string, home: string): string | null {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const path = join(folder, PROJECT_FILE);
    if (look(path) !== null) return path;
    const isLast = folder === resolve(home) || folder === dirname(folder);
    if (isLast || look(join(folder, '.git')) !== null) return null;
  }
}

/** Null for a path that does not exist or cannot be read. */
function look(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function isTrusted(path: string): boolean {
  const uid = process.geteuid?.();
  // Windows has no such numbers.
  if (uid === undefined) return true;
  const owner = look(path)?.uid;
  return owner === uid || owner === 0;
}

function readJson(path: string): unknown {
  try {
    return parseJson(readFileSync(path, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw projectFileFailure(path, `cannot be read: ${why}`, 'Fix the file, or remove it.');
  }
}

function projectFileFailure(path: string, what: string, advice: string, errors?: ProjectErrors): Failure {
  return configurationFailure('PROJECT_FILE_INVALID', `${path} ${what}`, advice, {
    ...(errors === undefined ? {} : { errors }),
  });
}

type ProjectErrors = readonly { readonly pointer: string; readonly detail: string }[];
