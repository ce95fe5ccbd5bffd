/** Documentation, messages and names of tests use plain English: no phrase of the table below appears in them. */
import { readFileSync } from 'node:fs';
import { type ESTree, parseSync, Visitor } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';
import { listFiles } from '../structure/modules.ts';

/** Phrases that readers stumbled over, as regular expressions between word boundaries, and what to write instead. */
const BANNED: Readonly<Record<string, string>> = {
  'mend(s|ed|ing)?': 'fix',
  told: 'reported, notified, detected, described',
  'tells? of': 'describe, report',
  'speaks? of': 'mention',
  'pass(es|ed)? over': 'skip',
  'left out': 'skipped, omitted',
  '(?<!there )(?:is|are) no(?! (?:longer|more)\\b)': 'is not a …, invalid …',
  '(?<!there )(?:is|are) none': 'is not one, is not a …',
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
  'gives(?! up\\b)': 'returns, prints, produces',
  'gave .{1,40} back': 'returned',
  'given back': 'returned',
  'as (it|they) stands?': 'unchanged',
  'stands? (in|at|on|beside|below|here|there)': 'is',
  'lies? (in|at|on|beside|below|where)': 'is',
  'where (they|it) lies?': 'where it is',
  // Right with a proxy, a link or a login page, and after `leave`.
  '(?<!(?:left|leave|leaves|nothing) )behind(?! (?:TLS|one\\b|(?:an?|the) (?:[\\w`…-]+ ){0,2}\\[?(?:firewall|link|failure|page|proxy)))':
    'after',
  'parted (by|at)': 'separated by, split at',
  'choose of': 'choose one of',
  'hand(s|ed)? out': 'send, return',
  'of (yours|ours)': 'your …, our …',
  // Right for an archive that replaces another.
  'in (?:the |its )?place of(?! this\\b)': 'instead of',
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
  'wins? over': 'overrides, takes precedence over',
  // A node holds a lock.
  'holds? (?:a|no|more)(?! (?:\\w+ )*lock)': 'contains, has',
  'exclude each other': 'cannot be combined',
  '(?:free|make) (?:some )?room': 'free disk space',
  'not there any more': 'no longer exists',
  'is there (?:twice|already)': 'is repeated, already exists',
  'number from \\d+(?! to\\b)': 'number of at least …',
};

const BETTER = Object.entries(BANNED).map(
  ([phrase, better]) => [new RegExp(`\\b${phrase}\\b`, 'gi'), better] as const,
);

/** Any of the phrases; one search instead of sixty for the texts that have none. */
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

/** The text of a string or of a template, whose values become `…`; null for other expressions. */
function textOf(node: ESTree.Node | undefined): string | null {
  if (node?.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked ?? '').join('…');
  return node?.type === 'Literal' && typeof node.value === 'string' ? node.value : null;
}

/** String and template literals of a source file that contain more than one word. */
function readTexts(path: string, text: string): string[] {
  const found: (string | null)[] = [];
  const visitor = new Visitor({
    Literal: (node) => void found.push(textOf(node)),
    TemplateLiteral: (node) => void found.push(textOf(node)),
  });
  visitor.visit(parseSync(path, text).program);
  return found.filter((each) => each !== null).filter((each) => /\S\s+\S/.test(each));
}

/** `it` of `it`, `it.each(…)` and `it.skipIf(…)`. */
function rootName(node: ESTree.Expression | ESTree.Super): string | null {
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'MemberExpression') return rootName(node.object);
  return node.type === 'CallExpression' ? rootName(node.callee) : null;
}

/** Names of the tests of a file, and titles in tables that become names. */
function readTitles(path: string, text: string): string[] {
  const found: (string | null)[] = [];
  const visitor = new Visitor({
    CallExpression({ callee, arguments: [name] }) {
      if (/^(it|test|describe|bench)$/.test(rootName(callee) ?? '')) found.push(textOf(name));
    },
    Property({ key, value }) {
      if (key.type === 'Identifier' && key.name === 'title') found.push(textOf(value));
    },
  });
  visitor.visit(parseSync(path, text).program);
  return found.filter((each) => each !== null);
}

/** Comments of a script; lines that begin with `#` outside of TypeScript and JavaScript. */
function readComments(path: string, text: string): string[] {
  if (/\.[jt]s$/.test(path)) return parseSync(path, text).comments.map(({ value }) => value);
  return [...text.matchAll(/^ *#(.*)$/gm)].map(([, comment = '']) => comment);
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
  const pages = ['docs', 'bench', 'test', 'skills', '.github']
    .flatMap(listFiles)
    .filter((path) => path.endsWith('.md'));
  return ['README.md', 'CHANGELOG.md', 'llms.txt', 'src/README.md', ...pages].map((path) => ({
    path,
    text: proseOf(readFile(path)),
  }));
}

const isScript = (path: string) => /\.[jt]s$/.test(path);

/** What a reader finds in each of these files. */
const textsIn = (paths: readonly string[], read: (path: string, text: string) => string[]): Text[] =>
  paths.flatMap((path) => read(path, readFile(path)).map((text) => ({ path, text })));

/** Everything that users read besides the pages: messages and help, the action, and the files generated from them. */
function listTexts(): Text[] {
  const generated = ['completions', 'man'].flatMap(listFiles);
  const programs = ['src', 'docs', 'release', 'bench', 'action', 'bin', 'build', 'test/conformance'].flatMap(
    listFiles,
  );
  return [
    ...textsIn([...generated, 'action.yml'], (_, text) => [text.replaceAll('\\-', '-')]),
    ...textsIn(programs.filter(isScript), readTexts),
  ];
}

const report = (texts: readonly Text[]) =>
  texts.flatMap(({ path, text }) => findBanned(text).map((found) => `${path}: ${found}`));

it('the documentation is plain English', () => {
  expect(report(listPages())).toEqual([]);
});

it('help texts, messages and what is generated from them are plain English', () => {
  expect(report(listTexts())).toEqual([]);
});

it('names of tests are plain English', () => {
  expect(report(textsIn(listFiles('test').filter(isScript), readTitles))).toEqual([]);
});

const isCommented = (path: string) => isScript(path) || /\.(sh|zsh|ya?ml|ps1)$/.test(path);

it('comments in tests and tools are plain English', () => {
  const scripts = ['.github', 'action', 'bench', 'bin', 'build', 'docs', 'test']
    .flatMap(listFiles)
    .filter(isCommented);
  expect(report(textsIn([...scripts, ...listFiles('.ci')], readComments))).toEqual([]);
});

/** The phrases that neither a comment nor a name contains; of the others some are plain in a comment. */
const NOWHERE =
  /\b(?:mend(?:s|ed|ing)?|tells? of|told of|passed over|stands? in the way|com(?:e|es|ing) to (?:its|their|an) end|whoever|anew)\b/gi;

it('comments and names in the source and the release avoid the worst of them', () => {
  const texts = textsIn(['src', 'release'].flatMap(listFiles).filter(isCommented), (_, text) => [text]);
  const found = texts.flatMap(({ path, text }) =>
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
    ['the file is none', 'is none'],
    ['a word behind the name', 'behind'],
    ['2 frames in place of 3', 'in place of'],
    ['the address holds a password', 'holds a'],
    ['Free some room.', 'Free some room'],
    ['a number from 1', 'number from 1'],
    ['the service gave part 2 back', 'gave part 2 back'],
  ])('finds one in "%s"', (text, phrase) => {
    expect(findBanned(text)).toEqual([expect.stringContaining(`"${phrase}" → `)]);
  });

  it.each([
    'there is no such file',
    'it is no longer there',
    'null if there is none',
    'recommend',
    'amends',
    'a service behind a proxy',
    'nothing is left behind',
    'a process that holds a shared lock',
    'the caller gives up',
  ])('accepts "%s"', (text) => {
    expect(findBanned(text)).toEqual([]);
  });

  it('reads string and template literals, not names, comments and single words', () => {
    const source = `// mend it\nconst mend = 'mend'; throw \`mend \${mend} now\`; x('goes on');`;
    expect(readTexts('a.ts', source)).toEqual(['mend … now', 'goes on']);
  });

  it('reads names of tests and titles in tables, with `…` for values', () => {
    const source = `
      describe.each(TABLE)('a', () => { it.skipIf(x)(\`b \${x}\`, () => 'c'); });
      rule({ title: 'd', text: 'e' }); other('f');`;
    expect(readTitles('a.ts', source)).toEqual(['a', 'b …', 'd']);
  });

  it('reads comments of scripts', () => {
    expect(readComments('a.ts', "/** a */ x('// b'); // c")).toEqual(['* a ', ' c']);
    expect(readComments('a.sh', '#!/bin/sh\n  # a\necho "#b" # c')).toEqual(['!/bin/sh', ' a']);
  });
});
