/** What may become an input: named by somebody, or found in a folder. */
import { basename, isAbsolute, relative, resolve, sep } from 'node:path';

export interface Candidate {
  /** As it was written, or the path at which it was found, from where the command runs. */
  readonly label: string;
  /** Absolute; null for what is no file. */
  readonly path: string | null;
  /** Below its root, `/` between folders. */
  readonly name: string;
  /** False for files found in a folder or by a pattern: they are skipped when they are something else. */
  readonly isNamed: boolean;
  /** The row of a sheet that it stands in; null elsewhere. */
  readonly row: SheetRow | null;
  /** Why it cannot be used, where that is known before it is looked at. */
  readonly defect?: string;
}

/** A row of a sheet: options of one input, which win over those of the command line. */
export interface SheetRow {
  /** From 1, the header not counted. */
  readonly position: number;
  /** By option name; `to` is a list. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** What is no file is its own name. */
export function otherCandidate(operand: string, row: SheetRow | null = null): Candidate {
  return { label: operand, path: null, name: operand, isNamed: true, row };
}

/** Options that name files which a run reads. */
const READ_OPTIONS = ['sheet', 'filesFrom', 'filesFrom0', 'body', 'subtitle', 'sourceSubtitle'] as const;

/** Their values, as they were written. */
export type ReadOptions = { readonly [Name in (typeof READ_OPTIONS)[number]]?: string | undefined };

/** All files that a command line may name as its inputs, absolute; not all of them need be there. */
export function namedPaths(
  cwd: string,
  operands: readonly string[],
  options: ReadOptions,
): readonly string[] {
  const given = READ_OPTIONS.flatMap((name) => options[name] ?? []);
  return [...operands, ...given].map((path) => resolve(cwd, path.replace(/^@/, '')));
}

/** A file that somebody named: its results go straight into the folder of results. */
export function namedFile(operand: string, cwd: string): Candidate {
  const path = resolve(cwd, operand);
  return { label: operand, path, name: basename(path), isNamed: true, row: null };
}

/** A file out of a list: the tree below the root of the list is kept, as by `rsync --files-from`. */
export function listedFile(written: string, root: string, row: SheetRow | null = null): Candidate {
  const path = resolve(root, written);
  return { label: written, path, name: nameBelow(root, path) ?? basename(path), isNamed: true, row };
}

/** A file that a folder holds. @param name below the root, or absolute */
export function foundFile(root: string, name: string, cwd: string): Candidate {
  const path = resolve(root, name);
  const label = relative(cwd, path);
  return {
    label: label.startsWith('..') ? path : slashed(label),
    path,
    name: nameBelow(root, path) ?? basename(path),
    isNamed: false,
    row: null,
  };
}

/** The way from a folder to what lies in it, `/` between folders; null for what lies elsewhere. */
export function nameBelow(folder: string, path: string): string | null {
  const way = relative(folder, path);
  const isInside = way !== '' && !isAbsolute(way) && way.split(sep)[0] !== '..';
  return isInside ? slashed(way) : null;
}

/** The path with `/` between folders, whatever the system uses. */
function slashed(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}

const natural = new Intl.Collator('en', { numeric: true });

/** Lesson 2 before lesson 10, on every machine alike. */
export function byName(left: string, right: string): number {
  return natural.compare(left, right) || (left < right ? -1 : Number(left > right));
}
