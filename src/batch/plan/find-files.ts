/** Finds files in folders and by patterns. */
import fs from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { glob } from 'tinyglobby';
import { RECORD_FOLDER } from '../record-folder.ts';
import { byName, type Candidate, foundFile, nameBelow } from './candidate.ts';
import { exists } from './file-status.ts';

export interface Search {
  /** Absolute. File names are relative to it. */
  readonly root: string;
  /** Patterns below the root; empty for all files. */
  readonly pattern: readonly string[];
  /** Patterns of --include; empty for all files. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly cwd: string;
}

interface Found {
  readonly files: readonly Candidate[];
  /** Folders that could not be read, absolute. */
  readonly unreadable: readonly string[];
  /** Files that no search finds, with the reason: names with a line break, broken links, pipes and sockets. */
  readonly lost: readonly LostFile[];
  /** Output folders of earlier runs, which contain a journal. */
  readonly results: readonly string[];
}

export interface LostFile {
  /** Absolute. */
  readonly path: string;
  readonly why: string;
}

/**
 * Searches a folder and all folders below it, without hidden files. Links are followed, but never in a circle. The order is
 * the same in every run.
 */
export async function findFiles({ root, pattern, include, exclude, cwd }: Search): Promise<Found> {
  const noted: Noted = { unreadable: new Set(), broken: new Set(), links: new Set(), special: new Set() };
  const search = (patterns: readonly string[]) =>
    glob([...patterns], {
      cwd: root,
      ignore: exclude.map(deepPattern),
      fs: { readdir: readdirNoting(noted) },
    });
  const all = await search(pattern.length === 0 ? ['**'] : pattern);
  const wanted = include.length === 0 ? null : new Set(await search(include.map(deepPattern)));
  const names = wanted === null ? all : all.filter((name) => wanted.has(name));
  const results = await resultFolders(root, names);
  const isResult = (name: string) => results.some((folder) => name.startsWith(`${folder}/`));
  const own = names.filter((name) => !isResult(name)).toSorted(byNearness);
  const files = (await withoutLinksAmong(root, own)).map((name) => foundFile(root, name, cwd));
  const lost = (await listLost(noted)).filter(({ path }) => !isResult(nameBelow(root, path) ?? ''));
  const unreadable = [...noted.unreadable];
  return { files, unreadable, lost, results: results.map((folder) => join(root, folder)) };
}

async function listLost({ broken, links, special }: Noted): Promise<readonly LostFile[]> {
  const lost = [...broken].map((path) => ({ path, why: LINE_BREAK_ADVICE }));
  for (const path of special) if (!broken.has(path)) lost.push({ path, why: SPECIAL_ADVICE });
  for (const path of links) {
    const isThere = await stat(path).then(
      () => true,
      () => false,
    );
    if (!isThere && !broken.has(path)) lost.push({ path, why: LINK_ADVICE });
  }
  return lost.toSorted((left, right) => byName(left.path, right.path));
}

const LINE_BREAK_ADVICE = 'its name contains a line break; rename it or pass it explicitly';
const SPECIAL_ADVICE = 'it is a pipe, a socket or a device, not a regular file; remove it or --exclude it';
const LINK_ADVICE = 'it is a link to a file that does not exist; remove or correct the link';

/** A file has its own name, not that of a link to it: links come and go, and the name is part of the item's key. */
async function withoutLinksAmong(root: string, names: readonly string[]): Promise<readonly string[]> {
  const realRoot = await realpath(root);
  const own = new Set(names.map((name) => join(realRoot, name)));
  const kept: string[] = [];
  for (const name of names) {
    const path = join(realRoot, name);
    const real = await realpath(path).catch(() => path);
    if (real === path || !own.has(real)) kept.push(name);
  }
  return kept;
}

/** `*.mp4` also matches in folders below, as in a .gitignore. */
function deepPattern(pattern: string): string {
  return pattern.includes('/') ? pattern : `**/${pattern}`;
}

/** Characters that `.` does not match in regular expressions, to which patterns are converted. */
const LINE_BREAK = /[\n\r\u2028\u2029]/;

/** Entries that the search skips silently. */
interface Noted {
  readonly unreadable: Set<string>;
  readonly broken: Set<string>;
  /** All links, valid or not. */
  readonly links: Set<string>;
  /** Pipes, sockets and devices. They are never opened, since that could block forever. */
  readonly special: Set<string>;
}

function readdirNoting({ unreadable, broken, links, special }: Noted): typeof fs.readdir {
  const readdir = (
    path: string,
    options: { withFileTypes: true },
    done: (error: NodeJS.ErrnoException | null, entries: fs.Dirent[]) => void,
  ) =>
    fs.readdir(path, options, (error, entries) => {
      // The search adds a slash to folders.
      if (error !== null) unreadable.add(resolve(path));
      for (const entry of entries ?? []) {
        if (entry.name.startsWith('.')) continue;
        if (LINE_BREAK.test(entry.name)) broken.add(join(path, entry.name));
        if (entry.isSymbolicLink()) links.add(join(path, entry.name));
        else if (!entry.isFile() && !entry.isDirectory()) special.add(join(path, entry.name));
      }
      done(error, entries);
    });
  // The search calls it only like this.
  return readdir as typeof fs.readdir;
}

async function resultFolders(root: string, names: readonly string[]): Promise<readonly string[]> {
  const folders = new Set(names.flatMap(foldersAbove));
  const found: string[] = [];
  for (const folder of folders) {
    if (await exists(join(root, folder, RECORD_FOLDER))) found.push(folder);
  }
  return found;
}

/** `a/b/c.mp4` is in `a` and in `a/b`. */
function foldersAbove(name: string): readonly string[] {
  const parts = name.split('/').slice(0, -1);
  return parts.map((_, position) => parts.slice(0, position + 1).join('/'));
}

/** Of several paths to a file, the one with the fewest folders comes first. */
function byNearness(left: string, right: string): number {
  return left.split('/').length - right.split('/').length || byName(left, right);
}
