/** Names of result files, made from a template. Every part that comes from outside is made safe for a file name. */
import { hash } from 'node:crypto';
import { extname, isAbsolute, join, normalize, resolve, sep } from 'node:path';
import filenamify from 'filenamify';
import { Failure } from '../../errors/failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type Kind } from '../../protocol/kinds.ts';

/** What a template may name. None of them may be empty: `talk.{lang}.mp4` without a language would be `talk.mp4`, the input. */
interface NameParts {
  readonly stem: string;
  /** BCP 47 tag; null for results without a language. */
  readonly lang: string | null;
  readonly asset: string;
  readonly id: string;
  /** With its dot. */
  readonly ext: string;
}

const PART_NAMES = ['stem', 'lang', 'asset', 'id', 'ext'] as const;

/** `talk.es.mp4`; a kind that gives two files names them: `talk.vocals.wav`. */
export function defaultTemplate(kind: JobKind): string {
  const files = Object.values(KINDS[kind].result).filter((part) => part.type === 'asset').length;
  return files > 1 ? '{stem}.{asset}{ext}' : '{stem}.{lang}{ext}';
}

/** The same for files that only vloc reads: the asset is always named. */
export function innerTemplate(kind: JobKind): string {
  return hasLanguage(kind) ? '{stem}.{asset}.{lang}{ext}' : '{stem}.{asset}{ext}';
}

/** Stands in a name for a language that nobody has told. Source: BCP 47, "undetermined". */
export const NO_LANGUAGE = 'und';

/** False for kinds whose results are in no language, such as sounds without speech. */
function hasLanguage(kind: JobKind): boolean {
  const { fields, result }: Kind = KINDS[kind];
  return fields.target_language !== undefined || result.language !== undefined;
}

/**
 * The language of the result as the request has it; null while the job is to find it out, and for results without one.
 * @param fields of the request
 */
export function askedLanguage(kind: JobKind, fields: Readonly<Record<string, unknown>>): string | null {
  if (!hasLanguage(kind)) return null;
  const { fields: known }: Kind = KINDS[kind];
  const asked = known.target_language === undefined ? fields.source_language : fields.target_language;
  return typeof asked === 'string' && asked !== '' && asked !== AUTOMATIC ? asked : null;
}

/** A source language that the job is to find out. */
const AUTOMATIC = 'auto';

/**
 * The language in the name of a result. What was asked decides: answers may repeat it, write it in another way, or leave
 * it out, and each resume must find the same name. What the job found counts only where nothing was asked.
 * @param asked see `askedLanguage`
 * @param found by the job, as it was recorded or told; null where it tells none
 */
export function nameLanguage(kind: JobKind, asked: string | null, found: string | null): string | null {
  return hasLanguage(kind) ? asked || found || NO_LANGUAGE : null;
}

/** The template with what is known filled in, for a command that continues and does not know the input. */
export function fixParts(
  template: string,
  known: { readonly stem: string; readonly lang: string | null },
): string {
  const literal = (text: string) => safeName(text).replaceAll('{', '(').replaceAll('}', ')');
  const fixed = template.replaceAll('{stem}', () => literal(known.stem));
  const { lang } = known;
  return lang === null ? fixed : fixed.replaceAll('{lang}', () => literal(lang));
}

/**
 * Where a result goes.
 * @throws Failure of category usage for an unknown part, an empty one, and for a name that would leave the folder
 */
export function resultPath(folder: string, template: string, parts: NameParts): string {
  const name = template.replace(/\{(\w+)\}/g, (_, part: string) => partValue(part, parts));
  const inside = normalize(name);
  if (isAbsolute(inside) || inside.split(/[\\/]/).includes('..') || inside === '.') {
    throw usage(
      `--name "${template}" would write outside the output folder`,
      'Use a template without `..` and without a leading slash.',
    );
  }
  const stem = safeName(parts.stem);
  return join(resolve(folder), ...inside.split(sep).map((each) => fitName(each, stem)));
}

/** Where all files of a result of that kind go. @throws as `resultPath` */
export function assetPaths(
  kind: JobKind,
  folder: string,
  template: string,
  parts: Omit<NameParts, 'asset' | 'ext'>,
): readonly string[] {
  const { result }: Kind = KINDS[kind];
  return Object.values(result).flatMap((part) =>
    part.type === 'asset'
      ? resultPath(folder, template, { ...parts, asset: part.label, ext: part.extension })
      : [],
  );
}

function partValue(part: string, parts: NameParts): string {
  const known = PART_NAMES.find((name) => name === part);
  if (known === undefined) {
    throw usage(
      `--name has {${part}}, which is not known`,
      `Use ${PART_NAMES.map((name) => `{${name}}`).join(', ')}.`,
    );
  }
  const value = parts[known];
  if (value === null || value === '') {
    const what = value === null ? 'the result is in no language' : 'it is empty here';
    throw usage(`--name has {${part}}, but ${what}`, `Leave {${part}} out of the template.`);
  }
  return known === 'ext' ? value : safeName(value);
}

/** The folder of a result: that of its input below the root, each part made safe. @param name with `/` between folders */
export function resultFolder(name: string): string {
  return name
    .split('/')
    .slice(0, -1)
    .map((part) => (part === '' ? '' : fitName(safeName(part), '')))
    .filter((part) => part !== '')
    .join('/');
}

/** File systems take 255 bytes for a name; an unfinished file has a dot before it and an ending behind it. */
const NAME_BYTES = 255 - 15;

/** Hexadecimal digits that tell shortened names apart: 48 bits, enough for the files of one folder. */
const MARK_DIGITS = 12;

/** A name that is too long loses the end of its stem and gets a hash of it: two long names stay two. */
export function fitName(name: string, stem: string): string {
  const over = Buffer.byteLength(name) - NAME_BYTES;
  if (over <= 0) return name;
  const extension = extname(name);
  const isStemEnough = name.includes(stem) && Buffer.byteLength(stem) > over + MARK_DIGITS + 1;
  const long = isStemEnough ? stem : name.slice(0, name.length - extension.length);
  // An ending that leaves no room is none.
  if (Buffer.byteLength(long) <= over + MARK_DIGITS + 1) return shorten(name, NAME_BYTES);
  return name.replace(long, () => shorten(long, Buffer.byteLength(long) - over));
}

function shorten(text: string, most: number): string {
  const bytes = Buffer.from(text);
  let end = most - MARK_DIGITS - 1;
  // Not within a character: the bytes behind its first one begin with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0b1100_0000) === 0b1000_0000) end -= 1;
  return `${bytes.toString('utf8', 0, end)}~${hash('sha256', text).slice(0, MARK_DIGITS)}`;
}

function safeName(text: string): string {
  // Characters that reorder text would make a name look like another.
  const visible = text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '');
  return filenamify(visible, { replacement: '_', maxLength: Number.POSITIVE_INFINITY });
}

function usage(message: string, advice: string): Failure {
  return new Failure({ category: 'usage', code: 'NAME_TEMPLATE', message, advice });
}
