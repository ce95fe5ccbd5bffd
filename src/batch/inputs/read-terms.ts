/** Reads the file of `--terms`. */
import { resolve } from 'node:path';
import { usageFailure } from '../../base/failure.ts';
import { baseLanguage, canonicalLanguage, isKnownLanguage } from '../../protocol/language-tag.ts';
import { foldTerm, plainText, type Terms } from '../terms.ts';
import { readTableFile, type Table } from './lists.ts';
import type { PlanIo } from './plan-request.ts';

interface TermRow {
  readonly term: string;
  /** By canonical language tag. */
  readonly cells: ReadonlyMap<string, string>;
}

const TERM_COLUMN = 'term';
const NOTE_COLUMN = 'note';
/** In a cell: the term itself. */
const KEEP = '=';

/**
 * Reads a CSV file with the columns `term`, one for each language, and `note`, which is for people.
 * @param written path as the user wrote it
 * @param targets languages of the run
 * @throws Failure (`usage`, TERMS_INVALID) that lists what is wrong with it
 */
export async function readTerms(
  written: string,
  targets: readonly string[],
  io: Pick<PlanIo, 'cwd' | 'stdin'>,
): Promise<Terms> {
  // A path, so that `-` is not stdin, which may be the input.
  const table = await readTableFile(resolve(io.cwd, written), io);
  const problems: string[] = [];
  const terms = typeof table === 'string' ? null : readRows(table, problems);
  if (typeof table === 'string') problems.push(table);
  const isUseless = terms !== null && targets.every((target) => columnFor(terms.languages, target) === null);
  if (isUseless && problems.length === 0 && targets.length > 0)
    problems.push(`has no column for ${targets.join(' or ')}; its languages: ${terms.languages.join(', ')}`);
  if (terms === null || problems.length > 0) {
    const advice =
      'Write a header such as term,es,fr,note and a row for each term; = keeps a term. Nothing was sent.';
    const errors = problems.map((detail) => ({ pointer: written, detail }));
    throw usageFailure('TERMS_INVALID', `the terms in ${written} cannot be used`, advice, { errors });
  }
  return terms;
}

function readRows(table: Table, problems: string[]): Terms {
  const columns = readColumns(table.titles, problems);
  const rows: TermRow[] = [];
  const seen = new Map<string, number>();
  for (const [at, cells] of table.rows.entries()) {
    const place = `row ${at + 1}`;
    const term = textOf(cells[columns.term]);
    const folded = foldTerm(term);
    const before = seen.get(folded);
    seen.set(folded, before ?? at + 1);
    if (folded === '') problems.push(`${place} has no term`);
    else if (before !== undefined) problems.push(`${place} has the term "${term}" of row ${before} again`);
    const expected = [...columns.languages].map(([title, tag]) => [tag, textOf(cells[title])] as const);
    const given = expected.filter(([, text]) => text !== '');
    for (const [tag, text] of given) {
      if (text !== KEEP && foldTerm(text) === '')
        problems.push(`${place} has nothing before the * for ${tag}`);
    }
    rows.push({ term, cells: new Map(given.map(([tag, text]) => [tag, text === KEEP ? term : text])) });
  }
  if (rows.length === 0) problems.push('has no terms');
  const languages = [...columns.languages.values()];
  return {
    languages,
    in(language) {
      const column = columnFor(languages, language);
      return rows.flatMap(({ term, cells }) => {
        const expected = column === null ? undefined : cells.get(column);
        return expected === undefined ? [] : [{ term, expected }];
      });
    },
  };
}

interface Columns {
  /** Title as written. */
  readonly term: string;
  /** From the title as written to the canonical tag. */
  readonly languages: ReadonlyMap<string, string>;
}

function readColumns(titles: readonly string[], problems: string[]): Columns {
  const languages = new Map<string, string>();
  let term: string | null = null;
  for (const title of titles) {
    const name = title.toLowerCase();
    const tag = canonicalLanguage(title.replaceAll('_', '-'));
    const isTwice =
      name === TERM_COLUMN ? term !== null : tag !== null && [...languages.values()].includes(tag);
    if (isTwice) problems.push(`the column "${title}" appears twice`);
    else if (name === TERM_COLUMN) term = title;
    else if (name === NOTE_COLUMN) continue;
    else if (tag !== null && isKnownLanguage(tag)) languages.set(title, tag);
    else
      problems.push(
        `the column "${title}" is neither ${TERM_COLUMN} nor ${NOTE_COLUMN} nor a language such as es`,
      );
  }
  if (term === null) problems.push(`has no column "${TERM_COLUMN}"`);
  if (languages.size === 0) problems.push('has no column for a language, such as es');
  return { term: term ?? '', languages };
}

/** The column of a language: its own, or that of the language without region. */
function columnFor(columns: readonly string[], language: string): string | null {
  const tag = canonicalLanguage(language) ?? language;
  return [tag, baseLanguage(tag)].find((each) => columns.includes(each)) ?? null;
}

function textOf(cell: unknown): string {
  return cell === undefined || cell === null ? '' : plainText(String(cell)).trim();
}
