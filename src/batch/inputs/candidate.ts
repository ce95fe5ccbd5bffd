/** Candidates for inputs: named by the user, or found in a folder. */
import { basename, relative, resolve } from 'node:path';
import { nameBelow, slashed } from '../../base/relative-name.ts';
import { KINDS, type Kind } from '../../protocol/kinds.ts';
import { VERSION_PREFIX } from '../../protocol/operations.ts';

export interface Candidate {
  /** As the user wrote it, or the path relative to the working directory. */
  readonly label: string;
  /** Absolute; null for anything but a file. */
  readonly path: string | null;
  /** Below its root, `/` between folders. */
  readonly name: string;
  /** False for a file found in a folder or by a pattern, which is skipped if it is not an input. */
  readonly isNamed: boolean;
  /** Its row of a sheet; null without a sheet. */
  readonly row: SheetRow | null;
  /** Why it cannot be used, if that is known before it is examined. */
  readonly defect?: string;
}

/** A row of a sheet: options of one input, which override those of the command line. */
export interface SheetRow {
  /** From 1, the header not counted. */
  readonly position: number;
  /** By option name; `to` is a list. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** An operand that is not a file. It is its own name. */
export function otherCandidate(operand: string, row: SheetRow | null = null): Candidate {
  return { label: operand, path: null, name: operand, isNamed: true, row };
}

/** Options whose files a run reads. */
const READ_OPTIONS = [
  'sheet',
  'filesFrom',
  'filesFrom0',
  'body',
  'subtitle',
  'sourceSubtitle',
  'terms',
] as const;

/** Their values, as written. */
export type ReadOptions = { readonly [Name in (typeof READ_OPTIONS)[number]]?: string | undefined };

/** All paths that a command line may name as inputs, absolute. Some of them may not exist. */
export function namedPaths(
  cwd: string,
  operands: readonly string[],
  options: ReadOptions,
): readonly string[] {
  const given = READ_OPTIONS.flatMap((name) => options[name] ?? []);
  return [...operands, ...given].map((path) => resolve(cwd, path.replace(/^@/, '')));
}

/** A file that the user named. Its results go directly into the output folder. */
export function namedFile(operand: string, cwd: string): Candidate {
  const path = resolve(cwd, operand);
  return { label: operand, path, name: basename(path), isNamed: true, row: null };
}

/** A file from a list. Results keep the tree below the root of the list, as with `rsync --files-from`. */
export function listedFile(written: string, root: string, row: SheetRow | null = null): Candidate {
  const path = resolve(root, written);
  return { label: written, path, name: nameBelow(root, path) ?? basename(path), isNamed: true, row };
}

/** A file found in a folder. @param name below the root, or absolute */
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

const natural = new Intl.Collator('en', { numeric: true });

/** Compares names: lesson 2 comes before lesson 10, on every machine. */
export function byName(left: string, right: string): number {
  return natural.compare(left, right) || (left < right ? -1 : Number(left > right));
}

/** The problem of all other addresses. */
export const ONLY_HTTPS = 'the service reads https addresses only';

/** True for an address of any scheme, also for one that the service does not fetch. */
export function isAddress(text: string): boolean {
  // A scheme of one letter would be a Windows drive.
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(text);
}

export function isHttps(text: string): boolean {
  return /^https:\/\//i.test(text);
}

/** 8-4-4-4-12 hexadecimal digits. People do not name files or folders like this. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `uploads/ID`, with or without the version. An ID has at least eight characters and a digit, unlike most folder names. */
const WITH_COLLECTION = /^(?:\/v1\/)?uploads\/((?=\D*\d)[\w-]{8,})$/;

/**
 * The id of an upload, recognized by its text: `upl_…`; a UUID, since hosted services choose their own ids; or `uploads/ID`
 * and the detail_url for ids of other forms. Null for everything else. Source: contract, "Identifiers".
 */
export function uploadIdOf(operand: string): string | null {
  if (/^upl_[a-z0-9]+$/i.test(operand) || UUID.test(operand)) return operand;
  return WITH_COLLECTION.exec(operand)?.[1] ?? null;
}

/** The kinds whose result has lines. */
const WITH_LINES = Object.entries<Kind>(KINDS).filter(([, kind]) =>
  Object.values(kind.result).some((part) => part.type === 'lines'),
);

/**
 * True for `rec_…`, `subtitle-recognitions/ID`, `subtitle_recognition/ID` and the detail_url of such a job. Ids of other
 * forms, which hosted services may use, need the kind before them to differ from a file.
 */
export function namesJobWithLines(operand: string): boolean {
  const path = operand.startsWith(`${VERSION_PREFIX}/`) ? operand.slice(VERSION_PREFIX.length + 1) : operand;
  return WITH_LINES.some(
    ([name, kind]) =>
      new RegExp(`^${kind.idPrefix}_[A-Za-z0-9]+$`).test(path) ||
      [name, kind.path].some((first) => path.startsWith(`${first}/`) && !/\.\w+$/.test(path)),
  );
}

/** The id of a job, which names its results. */
export function stemOfJob(reference: string): string {
  return reference.split('/').at(-1) ?? reference;
}

/** True for an address, an upload, stdin, and for a job with lines if the command reads subtitles. */
export function isNonFileInput(operand: string, takes: 'video' | 'subtitle'): boolean {
  return (
    operand === '-' ||
    isAddress(operand) ||
    uploadIdOf(operand) !== null ||
    (takes === 'subtitle' && namesJobWithLines(operand))
  );
}
