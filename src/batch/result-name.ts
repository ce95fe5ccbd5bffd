/** Creates names of result files from a template. Values from outside are made safe for file names. */
import { hash } from 'node:crypto';
import { basename, extname, isAbsolute, join, normalize, resolve, sep } from 'node:path';
import filenamify from 'filenamify';
import { type Failure, usageFailure } from '../base/failure.ts';
import type { JobKind } from '../protocol/kind-names.ts';
import { KINDS, type Kind } from '../protocol/kinds.ts';

/** Values for a template. None may be empty: `talk.{lang}.mp4` without a language would be `talk.mp4`, the input. */
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

/** `talk.es.mp4`. The files of a kind with two of them have their names: `talk.vocals.wav`. */
export function defaultTemplate(kind: JobKind): string {
  const files = Object.values(KINDS[kind].result).filter((part) => part.type === 'asset').length;
  return files > 1 ? '{stem}.{asset}{ext}' : '{stem}.{lang}{ext}';
}

/** The name of the file at an address, without its extension; the host if it has none. */
export function stemOfAddress({ pathname, hostname }: URL): string {
  const last = decoded(pathname.split('/').at(-1) ?? '');
  return basename(last, extname(last)) || hostname;
}

/** Decodes percent-encoded text; returns invalid text unchanged. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The template for files that only vloc reads: it always names the asset. */
export function innerTemplate(kind: JobKind): string {
  return hasLanguage(kind) ? '{stem}.{asset}.{lang}{ext}' : '{stem}.{asset}{ext}';
}

/** The template for samples: `talk.es.sample.mp4` instead of `talk.es.mp4`. */
export function sampleTemplate(template: string): string {
  const extension = template.endsWith('{ext}') ? '{ext}' : extname(template);
  return `${template.slice(0, template.length - extension.length)}.sample${extension}`;
}

/** Whether a template is that of samples. */
export function isSampleTemplate(template: string): boolean {
  return /\.sample(\{ext\}|\.[^.{}]+)?$/.test(template);
}

/** The tag of an unknown language, also where a service reports it. Source: BCP 47, "undetermined". */
export const NO_LANGUAGE = 'und';

/** False for kinds whose results have no language, such as sounds without speech. */
function hasLanguage(kind: JobKind): boolean {
  const { fields, result }: Kind = KINDS[kind];
  return fields.target_language !== undefined || result.language !== undefined;
}

/**
 * The language of the result as requested; null if the job finds it out, and for results without a language.
 * @param fields of the request
 */
export function askedLanguage(kind: JobKind, fields: Readonly<Record<string, unknown>>): string | null {
  if (!hasLanguage(kind)) return null;
  const { fields: known }: Kind = KINDS[kind];
  const asked = known.target_language === undefined ? fields.source_language : fields.target_language;
  return typeof asked === 'string' && asked !== '' && asked !== AUTOMATIC ? asked : null;
}

/** A source language that the job finds out. */
export const AUTOMATIC = 'auto';

/**
 * The language in the name of a result. The requested one wins: responses may write it differently or omit it, and each
 * resumed run must find the same name. The one that the job found counts only if none was requested.
 * @param asked see `askedLanguage`
 * @param found by the job; null if it reports none
 */
export function nameLanguage(kind: JobKind, asked: string | null, found: string | null): string | null {
  if (!hasLanguage(kind)) return null;
  const language = asked || found || NO_LANGUAGE;
  return language.toLowerCase() === NO_LANGUAGE ? NO_LANGUAGE : language;
}

/**
 * The template without a language that nobody knows, where the stem is before it: most people do not know its tag. Who asks for
 * `und` does.
 * @param asked @param found see `nameLanguage`
 */
export function withoutUnknown(template: string, asked: string | null, found: string | null): string {
  const isKnown = asked !== null || (found || NO_LANGUAGE).toLowerCase() !== NO_LANGUAGE;
  return isKnown ? template : template.replaceAll('{stem}.{lang}', '{stem}');
}

/** The template with known values filled in, for a command that continues without knowing the input. */
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
 * The path of a result.
 * @throws Failure of category usage for an unknown part, an empty one, and for a name that would leave the folder
 */
export function resultPath(folder: string, template: string, parts: NameParts): string {
  const name = template.replace(/\{(\w+)\}/g, (_, part: string) => partValue(part, parts));
  const inside = normalize(name);
  if (isAbsolute(inside) || inside.split(/[\\/]/).includes('..') || inside === '.') {
    throw nameTemplateFailure(
      `--name "${template}" would write outside the output folder`,
      'Use a template without `..` and without a leading slash.',
    );
  }
  const stem = safeName(parts.stem);
  return join(resolve(folder), ...inside.split(sep).map((each) => fitName(each, stem)));
}

/** The paths of all files of a result of this kind. @throws as `resultPath` */
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
    throw nameTemplateFailure(
      `unknown placeholder {${part}} in --name`,
      `Available: ${PART_NAMES.map((name) => `{${name}}`).join(', ')}.`,
    );
  }
  const value = parts[known];
  if (value === null || value === '') {
    const what = value === null ? 'the result has no language' : 'it is empty for this result';
    throw nameTemplateFailure(`--name has {${part}}, but ${what}`, `Leave {${part}} out of the template.`);
  }
  return known === 'ext' ? value : safeName(value);
}

/** The folder of a result: that of its input below the root, with safe names. @param name with `/` between folders */
export function resultFolder(name: string): string {
  return name
    .split('/')
    .slice(0, -1)
    .map((part) => (part === '' ? '' : fitName(safeName(part), '')))
    .filter((part) => part !== '')
    .join('/');
}

/** File systems allow 255 bytes for a name. An unfinished file adds a dot in front and an extension. */
const NAME_BYTES = 255 - 15;

/** Hexadecimal digits that distinguish shortened names: 48 bits are enough for the files of one folder. */
const MARK_DIGITS = 12;

/** Shortens a name that is too long: the end of its stem becomes a hash, so that two long names stay different. */
export function fitName(name: string, stem: string): string {
  const over = Buffer.byteLength(name) - NAME_BYTES;
  if (over <= 0) return name;
  const extension = extname(name);
  const isStemEnough = name.includes(stem) && Buffer.byteLength(stem) > over + MARK_DIGITS + 1;
  const long = isStemEnough ? stem : name.slice(0, name.length - extension.length);
  // An extension that leaves no space does not count as one.
  if (Buffer.byteLength(long) <= over + MARK_DIGITS + 1) return shorten(name, NAME_BYTES);
  return name.replace(long, () => shorten(long, Buffer.byteLength(long) - over));
}

function shorten(text: string, most: number): string {
  const bytes = Buffer.from(text);
  let end = most - MARK_DIGITS - 1;
  // Not within a character: all bytes after its first one begin with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0b1100_0000) === 0b1000_0000) end -= 1;
  return `${bytes.toString('utf8', 0, end)}~${hash('sha256', text).slice(0, MARK_DIGITS)}`;
}

/** The same name, or one that all systems take. */
export function safeName(text: string): string {
  // Characters that reorder text could make a name look like another.
  const visible = text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '');
  return filenamify(visible, { replacement: '_', maxLength: Number.POSITIVE_INFINITY });
}

function nameTemplateFailure(message: string, advice: string): Failure {
  return usageFailure('NAME_TEMPLATE', message, advice);
}
