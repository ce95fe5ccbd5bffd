/** Reads the file of `--terms`. */
import { resolve } from 'node:path';
import { type Failure, usageFailure } from '../../base/failure.ts';
import type { Table } from '../../base/read-table.ts';
import { baseLanguage, canonicalLanguage, isKnownLanguage } from '../../protocol/language-tag.ts';
import { foldTerm, plainText, type Terms } from '../terms.ts';
import { readTableFile } from './lists.ts';
import type { PlanIo } from './plan-request.ts';

interface TermRow {
  readonly term: string;
  /** By canonical language tag. */
  readonly cells: ReadonlyMap<string, string>;
  /** How dubs speak it, by canonical language tag, or under EVERYWHERE. */
  readonly said: ReadonlyMap<string, string>;
}

const TERM_COLUMN = 'term';
const NOTE_COLUMN = 'note';
/** In one language `say:es`, which a sheet may write as `say_es`. */
const SAY_COLUMN = /^say(?:[:_\- ](.+))?$/i;
/** In place of a language: all that have no column of their own. */
const EVERYWHERE = '';
/** In a cell: the term itself. */
const KEEP = '=';

/**
 * Reads a CSV file with the columns `term`, one for each language, `say`, how dubs speak the term, and `note`, which is for people.
 * @param written path as the user wrote it
 * @throws Failure (`usage`, TERMS_INVALID) that lists what is wrong with it
 */
export async function readTerms(written: string, io: Pick<PlanIo, 'cwd' | 'stdin'>): Promise<Terms> {
  // A path, so that `-` is not stdin, which may be the input.
  const table = await readTableFile(resolve(io.cwd, written), io);
  const problems: string[] = [];
  const terms = typeof table === 'string' ? null : readRows(table, problems);
  if (typeof table === 'string') problems.push(table);
  if (terms === null || problems.length > 0) throw termsFailure(written, problems);
  return terms;
}

/** Checks that a file has something for one of the target languages of a run. @throws Failure (`usage`, TERMS_INVALID) */
export function requireUsefulTerms(written: string, terms: Terms, targets: readonly string[]): void {
  const { languages } = terms;
  const isUseful = targets.some(
    (target) => columnFor(languages, target) !== null || terms.said(target).length > 0,
  );
  if (isUseful || targets.length === 0) return;
  const problem = `has no column for ${targets.join(' or ')}; its languages: ${languages.join(', ')}`;
  throw termsFailure(written, [problem]);
}

function termsFailure(written: string, problems: readonly string[]): Failure {
  const advice =
    'Write a header such as term,es,fr,note and a row for each term; = keeps a term. Nothing was sent.';
  const errors = problems.map((detail) => ({ pointer: written, detail }));
  return usageFailure('TERMS_INVALID', `the terms in ${written} cannot be used`, advice, { errors });
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
    rows.push({
      term,
      cells: new Map(given.map(([tag, text]) => [tag, text === KEEP ? term : text])),
      said: new Map([...columns.said].map(([title, tag]) => [tag, textOf(cells[title])])),
    });
  }
  if (rows.length === 0) problems.push('has no terms');
  const columned = [...columns.languages.values()];
  const languages = [...new Set([...columned, ...columns.said.values()])].filter((tag) => tag !== EVERYWHERE);
  return {
    languages,
    in(language) {
      const column = columnFor(columned, language);
      return rows.flatMap(({ term, cells }) => {
        const expected = column === null ? undefined : cells.get(column);
        return expected === undefined ? [] : [{ term, expected }];
      });
    },
    said(language) {
      const column = columnFor(columned, language) ?? EVERYWHERE;
      return rows.flatMap(({ term, cells, said }) => {
        const expected = [...tagsOf(language), EVERYWHERE]
          .map((tag) => said.get(tag) ?? '')
          .find((text) => text !== '');
        return expected === undefined ? [] : [{ term: cells.get(column) ?? term, expected }];
      });
    },
  };
}

interface Columns {
  /** Title as written. */
  readonly term: string;
  /** From the title as written to the canonical tag. */
  readonly languages: ReadonlyMap<string, string>;
  /** The same for the columns of `say`. */
  readonly said: ReadonlyMap<string, string>;
}

function readColumns(titles: readonly string[], problems: string[]): Columns {
  const languages = new Map<string, string>();
  const said = new Map<string, string>();
  let term: string | null = null;
  for (const title of titles) {
    const name = title.toLowerCase();
    const say = SAY_COLUMN.exec(title);
    const tag = say !== null && say[1] === undefined ? EVERYWHERE : languageOf(say?.[1] ?? title);
    const known = say === null ? languages : said;
    const isTwice = name === TERM_COLUMN ? term !== null : tag !== null && [...known.values()].includes(tag);
    if (isTwice) problems.push(`the column "${title}" appears twice`);
    else if (name === TERM_COLUMN) term = title;
    else if (name === NOTE_COLUMN) continue;
    else if (tag !== null) known.set(title, tag);
    else
      problems.push(
        `the column "${title}" is neither ${TERM_COLUMN}, say, ${NOTE_COLUMN} nor a language such as es`,
      );
  }
  if (term === null) problems.push(`has no column "${TERM_COLUMN}"`);
  if (languages.size === 0 && said.size === 0) problems.push('has no column for a language, such as es');
  return { term: term ?? '', languages, said };
}

/** The canonical tag of a title; null for other words. */
function languageOf(title: string): string | null {
  const tag = canonicalLanguage(title.replaceAll('_', '-'));
  return tag !== null && isKnownLanguage(tag) ? tag : null;
}

/** The column of a language: its own, or that of the language without region. */
function columnFor(columns: readonly string[], language: string): string | null {
  return tagsOf(language).find((each) => columns.includes(each)) ?? null;
}

/** A language, and the same without region. */
function tagsOf(language: string): readonly string[] {
  const tag = canonicalLanguage(language) ?? language;
  return [tag, baseLanguage(tag)];
}

function textOf(cell: unknown): string {
  return cell === undefined || cell === null ? '' : plainText(String(cell)).trim();
}
