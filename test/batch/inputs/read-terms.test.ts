/** The file of --terms. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../src/base/failure.ts';
import { readTerms, requireUsefulTerms } from '../../../src/batch/inputs/read-terms.ts';
import type { Terms } from '../../../src/batch/terms.ts';
import { makeFolder } from '../../support/make-folder.ts';

async function read(content: string, targets: readonly string[] = ['es']): Promise<Terms> {
  const folder = makeFolder();
  await writeFile(join(folder, 'terms.csv'), content);
  const terms = await readTerms('terms.csv', { cwd: folder, stdin: Readable.from([]) });
  requireUsefulTerms('terms.csv', terms, targets);
  return terms;
}

/** What is wrong with a file. */
async function problemsOf(content: string, targets?: readonly string[]): Promise<readonly string[]> {
  const failure: Failure = await read(content, targets).then(
    () => Promise.reject(new Error('the file was taken')),
    (error) => error,
  );
  expect(failure.facts.code).toBe('TERMS_INVALID');
  return (failure.facts.errors ?? []).map(({ detail }) => detail);
}

describe('the file of terms', () => {
  it('has a column for each language, = for the term itself, and empty cells for no expectation', async () => {
    const terms = await read('term,es,FR,note\nAcme*,=,,the company\nboard,consejo,conseil,\n', ['es', 'fr']);
    expect(terms.languages).toEqual(['es', 'fr']);
    expect(terms.in('es')).toEqual([
      { term: 'Acme*', expected: 'Acme*' },
      { term: 'board', expected: 'consejo' },
    ]);
    expect(terms.in('fr')).toEqual([{ term: 'board', expected: 'conseil' }]);
    expect(terms.in('de')).toEqual([]);
  });

  it('serves a variety of a language by its own column, else by that of the language', async () => {
    const terms = await read('term;pt;pt_BR\ncell;telemóvel;celular\n', ['pt-BR']);
    expect(terms.in('pt-BR')).toEqual([{ term: 'cell', expected: 'celular' }]);
    expect(terms.in('pt-PT')).toEqual([{ term: 'cell', expected: 'telemóvel' }]);
  });

  it('has in the column say how a dub speaks the name, and in say:es only in this language', async () => {
    const terms = await read(
      'term,es,say,say:pt_BR\nDr. Müller,,Doktor Müller,Dotôr Míler\nboard,consejo*,,\nAcme*,=,Ekmi*,\n',
      ['es', 'pt', 'pt-BR'],
    );
    expect(terms.in('es').map(({ term }) => term)).toEqual(['board', 'Acme*']);
    const everywhere = { term: 'Acme*', expected: 'Ekmi*' };
    expect(terms.said('es')).toEqual([{ term: 'Dr. Müller', expected: 'Doktor Müller' }, everywhere]);
    expect(terms.said('pt')).toEqual(terms.said('es'));
    expect(terms.said('pt-BR')).toEqual([{ term: 'Dr. Müller', expected: 'Dotôr Míler' }, everywhere]);
  });

  it('with say replaces the translation of a term where it has one', async () => {
    const terms = await read('term,de,say:de\nDr. Smith,Dr. Schmidt,Doktor Schmidt\n', ['de']);
    expect(terms.said('de')).toEqual([{ term: 'Dr. Schmidt', expected: 'Doktor Schmidt' }]);
  });

  it('needs no column for a language if it has say', async () => {
    expect((await read('term,say\nAcme,Ekmi\n', ['es'])).said('es')).toHaveLength(1);
    expect(await problemsOf('term,say:fr\nAcme,Ekmi\n', ['es'])).toEqual([
      'has no column for es; its languages: fr',
    ]);
  });

  it.each([
    ['', ['has no column "term"', 'has no column for a language, such as es', 'has no terms']],
    ['term,es\n', ['has no terms']],
    ['term,note\nAcme,x\n', ['has no column for a language, such as es']],
    ['term,fr\nAcme,=\n', ['has no column for es; its languages: fr']],
    ['term,es,es\nAcme,=,=\n', ['the column "es" appears twice']],
    [
      'term,es,spanisch\nAcme,=,=\n',
      ['the column "spanisch" is neither term, say, note nor a language such as es'],
    ],
    ['term,es,say,Say\nAcme,=,,\n', ['the column "Say" appears twice']],
    ['term,es,say:es,say_es\nAcme,=,,\n', ['the column "say_es" appears twice']],
    [
      'term,es,say:spanisch\nAcme,=,\n',
      ['the column "say:spanisch" is neither term, say, note nor a language such as es'],
    ],
    ['term,es\nAcme,=\nacme*,=\n,x\n', ['row 2 has the term "acme*" of row 1 again', 'row 3 has no term']],
    ['term,es\n*,=\nAcme,*\n', ['row 1 has no term', 'row 2 has nothing before the * for es']],
    ['term,es\n"Acme,=\n', [expect.stringContaining('is not valid CSV')]],
  ])('%j is refused', async (content, problems) => {
    expect(await problemsOf(content)).toEqual(problems);
  });

  it('is enough if it has one of the target languages', async () => {
    expect((await read('term,es\nAcme,=\n', ['es', 'fr'])).in('fr')).toEqual([]);
  });
});
