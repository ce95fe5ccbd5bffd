/** Paths of the results of an item, as far as they are known before the job is done, and conflicts between them. */
import { join } from 'node:path';
import { type FindInput, foldName } from '../../base/find-input.ts';
import type { BatchItem } from '../item.ts';
import { type Delivery, templateFor } from './delivery.ts';
import type { InputProblem } from './input.ts';
import { askedLanguage, assetPaths, nameLanguage } from './result-name.ts';

/** Placeholders for a language that the job will find out, and for the id of a job that does not exist yet. */
const ANY_LANGUAGE = 'LANG';
const ANY_ID = 'ID';

export interface Places {
  /** Absolute paths of all files of the result; null if a name depends on what the job finds out. */
  readonly paths: readonly string[] | null;
  /** Paths that no other item may write, with placeholders for what is unknown. Empty for names with `{id}`. */
  readonly claims: readonly string[];
}

/**
 * The paths of the result, and those that it claims.
 * @throws Failure of category usage for a template that is not usable
 */
export function placeResults(item: PlaceableItem, delivery: Delivery): Places {
  const paths = resultPaths(item, delivery);
  if (templateFor(delivery, item.kind).includes('{id}')) return { paths, claims: [] };
  return { paths, claims: pathsIn(item, delivery, item.targetLanguage) };
}

type PlaceableItem = Pick<BatchItem, 'kind' | 'input' | 'targetLanguage' | 'fields' | 'folder'>;

/** The language that the item requests; null if its job finds it out, and for results without a language. */
export function languageOfItem({
  kind,
  targetLanguage,
  fields,
}: Omit<PlaceableItem, 'input' | 'folder'>): string | null {
  return targetLanguage ?? askedLanguage(kind, fields);
}

/**
 * Absolute paths of all files of the result; null if a name depends on what the job finds out.
 * @throws Failure of category usage for a template that is not usable
 */
export function resultPaths(item: PlaceableItem, delivery: Delivery): readonly string[] | null {
  const template = templateFor(delivery, item.kind);
  const language = languageOfItem(item);
  const isLater = template.includes('{id}') || (template.includes('{lang}') && language === null);
  // Computed also if they are unknown, so that an invalid template is reported before anything is paid.
  const paths = pathsIn(item, delivery, language);
  return isLater ? null : paths;
}

function pathsIn(
  { kind, input, folder }: PlaceableItem,
  delivery: Delivery,
  language: string | null,
): readonly string[] {
  const lang = nameLanguage(kind, language, ANY_LANGUAGE);
  const parts = { stem: input.stem, lang, id: ANY_ID };
  return assetPaths(kind, join(delivery.folder, folder), templateFor(delivery, kind), parts);
}

export interface Claim {
  /** Of the item. */
  readonly label: string;
  readonly path: string;
}

/** Finds items that would write the same file, on this disk or on a case-insensitive one. */
export function findClashes(claims: readonly Claim[]): InputProblem[] {
  const taken = new Map<string, Claim>();
  return claims.flatMap((claim): InputProblem[] => {
    const first = taken.get(foldName(claim.path));
    if (first === undefined) {
      taken.set(foldName(claim.path), claim);
      return [];
    }
    const like =
      first.path === claim.path
        ? `as ${first.label} does`
        : `which on many disks is the same file as ${first.path} of ${first.label}`;
    return [
      { pointer: claim.label, detail: `would write ${claim.path}, ${like}; use --name or two folders` },
    ];
  });
}

/** Finds results that would overwrite an input. Not even --clobber may do that. */
export async function findOverwrittenInputs(
  claims: readonly Claim[],
  findInput: FindInput,
): Promise<InputProblem[]> {
  const problems: InputProblem[] = [];
  for (const { label, path } of claims) {
    const input = await findInput(path);
    if (input === null) continue;
    const what = input === path ? 'the input' : `${path}, which is the input`;
    problems.push({
      pointer: label,
      detail: `would overwrite ${what} ${input} with its result; use --name or --out`,
    });
  }
  return problems;
}
