/** Operands that are not files: addresses, uploads, jobs and stdin. */
import { KINDS, type Kind } from '../../protocol/kinds.ts';
import { VERSION_PREFIX } from '../../protocol/operations.ts';

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
