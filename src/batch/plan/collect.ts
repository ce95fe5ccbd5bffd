/** Creates candidates from operands, lists and sheets, each file once. */
import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import type { FileFilter, PlanIo, PlanOptions, PlanRequest } from './batch-plan.ts';
import {
  type Candidate,
  foundFile,
  listedFile,
  namedFile,
  otherCandidate,
  type ReadOptions,
} from './candidate.ts';
import { isCalledLikeInput } from './content.ts';
import { whyNoFolder } from './file-status.ts';
import type { LostFile, Search } from './find-files.ts';
import type { InputProblem } from './input.ts';
import { readList, readSheet } from './lists.ts';
import { isNonFileInput } from './operand.ts';

interface Collection {
  readonly candidates: readonly Candidate[];
  /** Messages for the user: what was skipped, and why. */
  readonly notes: readonly string[];
}

/** Collects everything named by the operands and by --files-from, --files-from0 and --sheet, in order. */
export async function collect(
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
  const candidates: Candidate[] = [];
  for (const operand of operands) {
    candidates.push(...(await expand(operand, kind, options, io, { problems, notes, isWanted })));
  }
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
  const { isDynamicPattern } = await import('tinyglobby');
  if (!isDynamicPattern(operand)) return [namedFile(operand, io.cwd)];
  const { folder, pattern } = await splitPattern(operand, isDynamicPattern, io.cwd);
  return search(operand, kind, { root: resolve(io.cwd, folder), pattern: [pattern] }, options, io, report);
}

/**
 * `lessons/week1/**` + `/*.mp4`: the folders before the first wildcard are the root of the tree that is kept. A folder that is
 * called like a pattern, such as `week (1)`, is that folder.
 */
async function splitPattern(operand: string, isDynamic: (part: string) => boolean, cwd: string) {
  const parts = operand.split('/');
  let first = parts.findIndex((part) => isDynamic(part));
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
  { problems, notes, isWanted }: Report,
): Promise<readonly Candidate[]> {
  const wrong = await whyNoFolder(root);
  if (wrong !== null) {
    problems.push({ pointer: operand, detail: wrong });
    return [];
  }
  const { findFiles } = await import('./find-files.ts');
  const { include = [], exclude = [], watch = false } = options;
  const { files, unreadable, lost, results } = await findFiles({ root, pattern, include, exclude, cwd });
  const labelOf = (path: string) => foundFile(root, path, cwd).label;
  const isWhole = pattern.length + include.length + exclude.length === 0;
  const isMeant = ({ path }: LostFile) => isWhole && isCalledLikeInput(kind, path);
  const below = unreadable.filter((path) => path !== root);
  if (below.length < unreadable.length) problems.push({ pointer: operand, detail: UNREADABLE });
  // What is in such a folder is unknown, so the folder itself is an item that fails; a watched folder has no items yet.
  const closed = await Promise.all(below.map(async (path) => ({ path, why: await whyUnreadable(path) })));
  const folders = watch ? [] : closed;
  if (watch) for (const { path: pointer, why: detail } of closed) problems.push({ pointer, detail });
  const defective = [...lost.filter(isMeant), ...folders].map(
    ({ path, why }): Candidate => ({ ...foundFile(root, path, cwd), defect: why }),
  );
  for (const each of lost) {
    if (!isMeant(each)) notes.push(`Skipped ${JSON.stringify(labelOf(each.path))}: ${each.why}.`);
  }
  for (const folder of results) notes.push(`Skipped ${labelOf(folder)}: it is a folder of results.`);
  if (files.length + defective.length + unreadable.length === 0 && isWanted === undefined) {
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
