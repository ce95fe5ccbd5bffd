/** Documentation and messages use plain English: no phrase of the table below appears in them. */
import { readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';
import { listFiles, readModules } from '../structure/modules.ts';

/** Phrases that readers stumbled over, as regular expressions between word boundaries, and what to write instead. */
const BANNED: Readonly<Record<string, string>> = {
  'mend(s|ed|ing)?': 'fix',
  told: 'reported, notified, detected, described',
  'tells? of': 'describe, report',
  'speaks? of': 'mention',
  'pass(es|ed)? over': 'skip',
  'left out': 'skipped, omitted',
  '(?<!there )(?:is|are) no(?! (?:longer|more)\\b)': 'is not a …, invalid …',
  'stands? in the way': 'problem found',
  'com(e|es|ing) to (its|their|an) end': 'finish',
  '(go|goes|went|going) on': 'continue',
  'who(so)?ever': 'users, the caller',
  'some(body|one) who': 'users',
  '(what|all( that)?) there (is|are)': 'name the thing; available, existing',
  'that there (is|are)(?= not\\b|[.,;:])': 'that does not exist, that exists',
  anew: 'again, re-…',
  'at once': 'concurrently, at a time, immediately',
  '(take|takes|took|taken) up': 'resume, pick up',
  gives: 'returns, prints, produces',
  'given back': 'returned',
  'as (it|they) stands?': 'unchanged',
  'stands? (in|at|on|beside|below|here|there)': 'is',
  'lies? (in|at|on|beside|below|where)': 'is',
  'behind (each|that of|them)': 'after',
  'parted (by|at)': 'separated by, split at',
  'choose of': 'choose one of',
  'hand(s|ed)? out': 'send, return',
  'of (yours|ours)': 'your …, our …',
  'in (the|its) place of': 'instead of',
  'laps(e|es|ed|ing)': 'expire',
  'br(ing|ings|ought) about': 'cause',
  'can be had': 'is available',
  'for want of': 'because of missing …',
  'held against': 'compared with',
  'looked (over|through)': 'reviewed, checked',
  'written over': 'overwritten',
  'under way': 'running, in progress',
  'for good': 'permanently',
  'for ever': 'forever',
  'well or not': 'successfully or not',
  'reasons? that pass(es)?': 'temporary errors',
  'ha(s|ve) no right to': 'permission denied',
  'cannot be kept': 'cannot write',
  'wish(es|ed)?': 'request, choose, want',
};

const BETTER = Object.entries(BANNED).map(
  ([phrase, better]) => [new RegExp(`\\b${phrase}\\b`, 'gi'), better] as const,
);

/** Any of the phrases; one search instead of forty for the texts that have none. */
const ANY = new RegExp(`\\b(?:${Object.keys(BANNED).join('|')})\\b`, 'i');

/** Banned phrases in a text, as `phrase → better`. */
function findBanned(text: string): string[] {
  // A phrase may be broken between two lines.
  const flat = text.replace(/\s+/g, ' ');
  if (!ANY.test(flat)) return [];
  return BETTER.flatMap(([pattern, better]) =>
    [...flat.matchAll(pattern)].map(
      ({ 0: phrase, index }) =>
        `"${phrase}" → ${better}: …${flat.slice(Math.max(0, index - 40), index + phrase.length + 30)}…`,
    ),
  );
}

/** String and template literals of a source file that contain more than one word. */
function readTexts(path: string, text: string): string[] {
  const found: string[] = [];
  const visitor = new Visitor({
    Literal({ value }) {
      if (typeof value === 'string') found.push(value);
    },
    TemplateLiteral({ quasis }) {
      found.push(quasis.map(({ value }) => value.cooked ?? '').join('…'));
    },
  });
  visitor.visit(parseSync(path, text).program);
  return found.filter((each) => /\S\s+\S/.test(each));
}

const readFile = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Prose of a page: generated blocks have their source in `src`; code is not prose. */
const proseOf = (page: string) =>
  page
    .replace(/<!-- generated: \w+ -->[\s\S]*?<!-- end -->/g, '')
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, '`…`');

interface Text {
  readonly path: string;
  readonly text: string;
}

function listPages(): Text[] {
  const pages = ['docs', 'bench', 'test', '.github']
    .flatMap(listFiles)
    .filter((path) => path.endsWith('.md'));
  return ['README.md', 'CHANGELOG.md', 'src/README.md', ...pages].map((path) => ({
    path,
    text: proseOf(readFile(path)),
  }));
}

/** Everything that users read besides the pages: messages and help, and the files generated from them. */
function listTexts(): Text[] {
  const generated = ['completions', 'man']
    .flatMap(listFiles)
    .map((path) => ({ path, text: readFile(path).replaceAll('\\-', '-') }));
  const messages = readModules('src').flatMap(({ path, text }) =>
    readTexts(path, text).map((each) => ({ path, text: each })),
  );
  return [...generated, ...messages];
}

const report = (texts: readonly Text[]) =>
  texts.flatMap(({ path, text }) => findBanned(text).map((found) => `${path}: ${found}`));

it('the documentation is plain English', () => {
  expect(report(listPages())).toEqual([]);
});

it('help texts, messages and what is generated from them are plain English', () => {
  expect(report(listTexts())).toEqual([]);
});

/** The phrases that neither a comment nor a name contains; of the others some are plain in a comment. */
const NOWHERE =
  /\b(?:mend(?:s|ed|ing)?|tells? of|told of|passed over|stands? in the way|com(?:e|es|ing) to (?:its|their|an) end|whoever|anew)\b/gi;

it('comments and names in the source avoid the worst of them', () => {
  const found = readModules('src').flatMap(({ path, text }) =>
    [...text.matchAll(NOWHERE)].map(([phrase]) => `${path}: ${phrase}`),
  );
  expect(found).toEqual([]);
});

describe('the search for banned phrases', () => {
  it.each([
    ['Mend the file.', 'Mend'],
    ['a file that was passed\nover', 'passed over'],
    ['it is no video', 'is no'],
    ['these are no videos', 'are no'],
    ['the run goes on', 'goes on'],
  ])('finds one in "%s"', (text, phrase) => {
    expect(findBanned(text)).toEqual([expect.stringContaining(`"${phrase}" → `)]);
  });

  it.each(['there is no such file', 'it is no longer there', 'recommend', 'amends'])(
    'accepts "%s"',
    (text) => {
      expect(findBanned(text)).toEqual([]);
    },
  );

  it('reads string and template literals, not names, comments and single words', () => {
    const source = `// mend it\nconst mend = 'mend'; throw \`mend \${mend} now\`; x('goes on');`;
    expect(readTexts('a.ts', source)).toEqual(['mend … now', 'goes on']);
  });
});
