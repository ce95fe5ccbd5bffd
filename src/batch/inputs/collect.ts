/** Creates candidates from operands, lists and sheets, each file once. */

import fs from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, join, posix, resolve } from 'node:path';
import { glob, isDynamicPattern } from 'tinyglobby';
import { nameBelow } from '../../base/relative-name.ts';
import { isCalledSound } from '../../base/sound-formats.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import type { InputProblem } from '../input.ts';
import { RECORD_FOLDER } from '../records/record-folder.ts';
import {
  byName,
  type Candidate,
  foundFile,
  isNonFileInput,
  listedFile,
  namedFile,
  otherCandidate,
  type ReadOptions,
} from './candidate.ts';
import { isCalledLikeInput, isCalledVideo } from './content.ts';
import { pathExists, whyNoFolder } from './file-status.ts';
import { readList, readSheet } from './lists.ts';
import type { FileFilter, PlanIo, PlanOptions, PlanRequest } from './plan-request.ts';
import { describeSystemFolders, isSystemFolder } from './system-folders.ts';

interface Collection {
  readonly candidates: readonly Candidate[];
  /** Messages for the user: what was skipped, and why. */
  readonly notes: readonly string[];
}

/** Collects everything named by the operands and by --files-from, --files-from0 and --sheet, in order. */
export async function collectInputs(
  { kind, operands, options, isWanted }: Pick<PlanRequest, 'kind' | 'operands' | 'options' | 'isWanted'>,
  io: PlanIo,
  problems: InputProblem[],
): Promise<Collection> {
  const takes = KINDS[kind].input;
  const lists = listsOf(options);
  const { sheet = null, body = '' } = options;
  checkStdin([...operands, ...lists.map(({ written }) => written), sheet ?? '', body], problems);
  if (operands.length === 0 && lists.length === 0 && sheet === null) {
    const detail = 'no inputs; name files, folders or addresses, or use --files-from or --sheet';
    problems.push({ pointer: 'inputs', detail });
  }
  const notes: string[] = [];
  const system = new Set<string>();
  const candidates: Candidate[] = [];
  for (const operand of operands) {
    candidates.push(...(await expand(operand, kind, options, io, { problems, notes, system, isWanted })));
  }
  notes.push(...describeSystemFolders([...system]));
  for (const { written, separator } of lists) {
    const entries = await readList(written, separator, io);
    const pointer = `${separator === 'line' ? '--files-from' : '--files-from0'} ${written}`;
    if (typeof entries === 'string') problems.push({ pointer, detail: entries });
    else if (entries.length === 0) problems.push({ pointer, detail: 'the list is empty' });
    else
      candidates.push(
        ...entries.map((entry) =>
          entry !== '-' && isNonFileInput(entry, takes) ? otherCandidate(entry) : listedFile(entry, io.cwd),
        ),
      );
  }
  if (sheet !== null) {
    candidates.push(...(await readSheet(sheet, kind, takes, io, problems)));
  }
  const all = await withoutDoubles(candidates, notes);
  const wanted = all.filter((each) => each.isNamed || isWanted === undefined || isWanted(each));
  return { candidates: wanted, notes };
}

function listsOf({ filesFrom, filesFrom0 }: ReadOptions) {
  return [
    ...(filesFrom === undefined ? [] : [{ written: filesFrom, separator: 'line' as const }]),
    ...(filesFrom0 === undefined ? [] : [{ written: filesFrom0, separator: 'nul' as const }]),
  ];
}

/** Stdin can be read once. */
function checkStdin(names: readonly string[], problems: InputProblem[]): void {
  if (names.filter((name) => name === '-').length < 2) return;
  problems.push({ pointer: '-', detail: 'stdin is named more than once; put one of them into a file' });
}

interface Report {
  readonly problems: InputProblem[];
  readonly notes: string[];
  /** Skipped folders of trash, snapshots or the system, absolute. */
  readonly system: Set<string>;
  readonly isWanted: FileFilter | undefined;
}

async function expand(
  operand: string,
  kind: JobKind,
  options: PlanOptions,
  io: PlanIo,
  report: Report,
): Promise<readonly Candidate[]> {
  if (isNonFileInput(operand, KINDS[kind].input)) return [otherCandidate(operand)];
  const found = await stat(resolve(io.cwd, operand)).catch(() => null);
  if (found?.isDirectory())
    return search(operand, kind, { root: resolve(io.cwd, operand), pattern: [] }, options, io, report);
  // A file whose name looks like a pattern is that file.
  if (found !== null) return [namedFile(operand, io.cwd)];
  if (!isDynamicPattern(operand)) return [namedFile(operand, io.cwd)];
  const { folder, pattern } = await splitPattern(operand, io.cwd);
  return search(operand, kind, { root: resolve(io.cwd, folder), pattern: [pattern] }, options, io, report);
}

/**
 * `lessons/week1/**` + `/*.mp4`: the folders before the first wildcard are the root of the tree that is kept. A folder that is
 * called like a pattern, such as `week (1)`, is that folder.
 */
async function splitPattern(operand: string, cwd: string) {
  const parts = operand.split('/');
  let first = parts.findIndex((part) => isDynamicPattern(part));
  while (first < parts.length - 1 && (await isFolder(resolve(cwd, parts.slice(0, first + 1).join('/'))))) {
    first += 1;
  }
  const folder = parts.slice(0, first).join('/');
  return {
    folder: folder === '' && operand.startsWith('/') ? '/' : folder,
    // A bare `*.mp4` means this folder alone, as in a shell.
    pattern: `./${parts.slice(first).join('/')}`,
  };
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true;
}

async function search(
  operand: string,
  kind: JobKind,
  { root, pattern }: Pick<Search, 'root' | 'pattern'>,
  options: PlanOptions,
  { cwd }: PlanIo,
  { problems, notes, system, isWanted }: Report,
): Promise<readonly Candidate[]> {
  const wrong = await whyNoFolder(root);
  if (wrong !== null) {
    problems.push({ pointer: operand, detail: wrong });
    return [];
  }
  const { include = [], exclude = [], watch = false } = options;
  const found = await findFiles({ root, pattern, include, exclude, cwd });
  const { unreadable, lost, results } = found;
  const { files, beside } = withoutSoundOfVideos(found.files);
  for (const folder of found.system) system.add(folder);
  const labelOf = (path: string) => foundFile(root, path, cwd).label;
  const isWhole = pattern.length + include.length + exclude.length === 0;
  const isMeant = ({ path }: LostFile) => isWhole && isCalledLikeInput(kind, path);
  const below = unreadable.filter((path) => path !== root);
  if (below.length < unreadable.length) problems.push({ pointer: operand, detail: UNREADABLE });
  // The content of such a folder is unknown, so the folder itself is an item that fails; a watched folder has no items yet.
  const closed = await Promise.all(below.map(async (path) => ({ path, why: await whyUnreadable(path) })));
  const folders = watch ? [] : closed;
  if (watch) for (const { path: pointer, why: detail } of closed) problems.push({ pointer, detail });
  const defective = [...lost.filter(isMeant), ...folders].map(
    ({ path, why }): Candidate => ({ ...foundFile(root, path, cwd), defect: why }),
  );
  for (const each of lost) {
    if (!isMeant(each)) notes.push(`Skipped ${JSON.stringify(labelOf(each.path))}: ${each.why}.`);
  }
  const [first] = beside;
  if (first !== undefined && KINDS[kind].input === 'video') {
    const names = beside.length === 1 ? first.label : `${first.label} and ${beside.length - 1} more`;
    notes.push(
      `Skipped sound files beside a video of the same name: ${names}; name such a file itself to use it.`,
    );
  }
  for (const folder of results) notes.push(`Skipped ${labelOf(folder)}: it is a folder of results.`);
  if (found.files.length + defective.length + unreadable.length === 0 && isWanted === undefined) {
    const detail = pattern.length > 0 ? 'there is no matching file' : 'there is no file in this folder';
    const cut = include.length + exclude.length > 0 ? ' that --include and --exclude select' : '';
    problems.push({ pointer: operand, detail: `${detail}${cut}; check the path` });
  }
  return [...files, ...defective];
}

/** Why a folder that was found cannot be searched, and what to do. */
async function whyUnreadable(path: string): Promise<string> {
  const missing = await whyNoFolder(path);
  return missing === null ? UNREADABLE_BELOW : `${missing}, or --exclude it`;
}

const UNREADABLE = 'this folder cannot be read; correct its permissions';
const UNREADABLE_BELOW = `${UNREADABLE} and run the command again, or --exclude it`;

/** A video and its sound are one recording: `talk.m4a`, and results such as `talk.vocals.wav`, beside `talk.mp4`. */
function withoutSoundOfVideos(found: readonly Candidate[]) {
  const videos = new Set(found.flatMap(({ name }) => (isCalledVideo(name) ? stemOf(name) : [])));
  const isBeside = ({ name }: Candidate) => {
    if (!isCalledSound(name)) return false;
    const { dir, base } = posix.parse(name);
    const words = base.split('.');
    return words.some((_, at) => at > 0 && videos.has(posix.join(dir, words.slice(0, at).join('.'))));
  };
  const [beside, files] = [found.filter(isBeside), found.filter((each) => !isBeside(each))];
  return { files, beside };
}

/** The path without the extension of the file. */
function stemOf(name: string): string {
  const { dir, name: stem } = posix.parse(name);
  return posix.join(dir, stem);
}

/** Two names of one file would be paid twice. Rows of a sheet may request several results of one file. */
async function withoutDoubles(
  candidates: readonly Candidate[],
  notes: string[],
): Promise<readonly Candidate[]> {
  const seen = new Map<string, string>();
  const kept: Candidate[] = [];
  for (const candidate of candidates) {
    const { path, label, row } = candidate;
    const real = path === null ? label : await realOf(path);
    const key = row === null ? real : `${real}\0${row.position}`;
    const first = seen.get(key);
    if (first === undefined) kept.push(candidate);
    else if (candidate.isNamed && first !== label)
      notes.push(`${label} is the same file as ${first}; used once.`);
    if (first === undefined) seen.set(key, label);
  }
  return kept;
}

/** The path itself if nothing exists there, which is reported later. */
async function realOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

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
  /** Folders of trash, snapshots or the system that were skipped, absolute. */
  readonly system: readonly string[];
}

interface LostFile {
  /** Absolute. */
  readonly path: string;
  readonly why: string;
}

/**
 * Searches a folder and all folders below it, without hidden files and without folders of trash, snapshots or the system, unless a
 * pattern names them. Links are followed, but never in a circle. The order is the same in every run.
 */
export async function findFiles({ root, pattern, include, exclude, cwd }: Search): Promise<Found> {
  const noted: Noted = {
    unreadable: new Set(),
    broken: new Set(),
    links: new Set(),
    special: new Set(),
    system: new Set(),
  };
  const named = [...pattern, ...include].join('\n').toLowerCase();
  const isSkipped = (path: string) => {
    const name = basename(path);
    return path !== root && isSystemFolder(name) && !named.includes(name.toLowerCase());
  };
  const search = (patterns: readonly string[]) =>
    glob([...patterns], {
      cwd: root,
      ignore: exclude.map(deepPattern),
      fs: { readdir: readdirNoting(noted, isSkipped) },
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
  const system = [...noted.system];
  return { files, unreadable, lost, results: results.map((folder) => join(root, folder)), system };
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
  /** Folders that are not read. */
  readonly system: Set<string>;
}

/** @param isSkipped whether a folder counts as empty, by its absolute path */
function readdirNoting(
  { unreadable, broken, links, special, system }: Noted,
  isSkipped: (folder: string) => boolean,
): typeof fs.readdir {
  const readdir = (
    path: string,
    options: { withFileTypes: true },
    done: (error: NodeJS.ErrnoException | null, entries: fs.Dirent[]) => void,
  ) => {
    // The search adds a slash to folders.
    const folder = resolve(path);
    if (isSkipped(folder)) {
      system.add(folder);
      done(null, []);
      return;
    }
    fs.readdir(path, options, (error, entries) => {
      if (error !== null) unreadable.add(folder);
      for (const entry of entries ?? []) {
        if (entry.name.startsWith('.')) continue;
        if (LINE_BREAK.test(entry.name)) broken.add(join(path, entry.name));
        if (entry.isSymbolicLink()) links.add(join(path, entry.name));
        else if (!entry.isFile() && !entry.isDirectory()) special.add(join(path, entry.name));
      }
      done(error, entries);
    });
  };
  // The search calls it only like this.
  return readdir as typeof fs.readdir;
}

async function resultFolders(root: string, names: readonly string[]): Promise<readonly string[]> {
  const folders = new Set(names.flatMap(foldersAbove));
  const found: string[] = [];
  for (const folder of folders) {
    if (await pathExists(join(root, folder, RECORD_FOLDER))) found.push(folder);
  }
  return found;
}

/** `a/b/c.mp4` is in `a` and in `a/b`. */
function foldersAbove(name: string): readonly string[] {
  const parts = name.split('/').slice(0, -1);
  return parts.map((_, position) => parts.slice(0, position + 1).join('/'));
}

/** Sorts paths to the same file: the one with the fewest folders first. */
function byNearness(left: string, right: string): number {
  return left.split('/').length - right.split('/').length || byName(left, right);
}
