/** Names of result files, made from a template. Every part that comes from outside is made safe for a file name. */
import { isAbsolute, join, normalize, resolve } from 'node:path';
import filenamify from 'filenamify';
import { Failure } from '../../client/failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type Kind } from '../../protocol/kinds.ts';

/** What a template may speak of; an empty part takes the dot before it along. */
export interface NameParts {
  readonly stem: string;
  readonly lang: string;
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

/** The template with the stem filled in, for a command that continues and does not know the input. */
export function fixStem(template: string, stem: string): string {
  return template.replaceAll('{stem}', () => safeName(stem).replaceAll('{', '(').replaceAll('}', ')'));
}

/**
 * Where a result goes.
 * @throws Failure of category usage for an unknown part, and for a name that would leave the folder
 */
export function resultPath(folder: string, template: string, parts: NameParts): string {
  const name = template.replace(/\.?\{(\w+)\}/g, (written, part: string) => {
    const value = partValue(part, parts);
    const dot = written.startsWith('.') ? '.' : '';
    return value === '' ? '' : `${dot}${value}`;
  });
  const inside = normalize(name);
  if (isAbsolute(inside) || inside.split(/[\\/]/).includes('..') || inside === '.') {
    throw usage(
      `--name "${template}" leads out of the folder for results`,
      'Use a template without `..` and without a leading slash.',
    );
  }
  return join(resolve(folder), inside);
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
      `--name speaks of {${part}}`,
      `Known parts: ${PART_NAMES.map((name) => `{${name}}`).join(', ')}.`,
    );
  }
  return known === 'ext' ? parts.ext : safeName(parts[known]);
}

/** The folder of a result: that of its input below the root, each part made safe. @param name with `/` between folders */
export function resultFolder(name: string): string {
  return name
    .split('/')
    .slice(0, -1)
    .map(safeName)
    .filter((part) => part !== '')
    .join('/');
}

/** Longest stem kept, in characters: with language and ending a name stays under the 255 bytes of file systems, CJK too. */
const STEM_CHARACTERS = 70;

function safeName(text: string): string {
  // Characters that reorder text would make a name look like another.
  const visible = text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '');
  return text === '' ? '' : filenamify(visible, { replacement: '_', maxLength: STEM_CHARACTERS });
}

function usage(message: string, advice: string): Failure {
  return new Failure({ category: 'usage', code: 'NAME_TEMPLATE', message, advice });
}
